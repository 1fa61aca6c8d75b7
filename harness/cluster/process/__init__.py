"""The process backend: brokers as local JVMs on loopback addresses of their own, every link through Toxiproxy."""
