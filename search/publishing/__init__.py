"""A library's generation -> a server, which answers searches of many machines: `publish.publish` leads through it."""
