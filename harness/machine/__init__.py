"""This machine: downloads and their cache, tools on the PATH, child processes, sockets. Used by cluster and spark."""
