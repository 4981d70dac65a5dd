"""The memory as tools, resources and a prompt of MCP: over HTTP at /mcp, and over stdio."""
