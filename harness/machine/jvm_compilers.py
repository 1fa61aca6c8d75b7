"""Options of HotSpot's compilers for a JVM that soon has to be fast on few cores."""

LESS_INLINING = ("-XX:MaxInlineLevel=9", "-XX:FreqInlineSize=100", "-XX:InlineSmallCode=1000")
"""The second compiler inlines less than it would, as deep as before Java 14, and is done in half of the CPU.

What it makes is as fast: measured on brokers and on Spark (suites/chaos/README.md, "Where the time goes").
"""
