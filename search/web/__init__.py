"""Answers over HTTP, and to assistants over MCP: one engine, asked by many at once."""
