"""What a change writes, table by table: a query and the values that it takes."""
