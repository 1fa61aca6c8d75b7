"""The process backend: each node is a local JVM with loopback addresses of its own. Opened by opening.py."""
