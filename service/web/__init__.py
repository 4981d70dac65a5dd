"""What every HTTP route shares: fields, problems, cursors, layers, parts."""
