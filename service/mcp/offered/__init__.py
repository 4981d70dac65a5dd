"""What MCP offers: each tool is a file here and a line in `table.py`; no protocol in it."""
