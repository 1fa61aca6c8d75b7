# Toxiproxy where its image cannot be pulled: one static file, at its path in the released image.
FROM scratch
COPY server /toxiproxy
ENTRYPOINT ["/toxiproxy"]
