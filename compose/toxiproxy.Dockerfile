# Toxiproxy where its image cannot be pulled: one static file, at the place that the released image has it.
FROM scratch
COPY server /toxiproxy
ENTRYPOINT ["/toxiproxy"]
