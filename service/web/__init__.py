"""What every HTTP route shares: bodies, fields, problems, declarations, cursors, layers, parts."""
