# An image that segments photographs, with PoCL for machines without a GPU:
#
#   docker build --tag diacut .
#   docker run --rm --read-only --user "$(id -u):$(id -g)" --volume "$PWD:/data" \
#     diacut photo.jpg --output labels.png
#
# It needs no network, no writable root and no home.
FROM debian:bookworm-slim AS build
WORKDIR /source
COPY . .
RUN ./setup.sh package

FROM debian:bookworm-slim
COPY --from=build /source/build/release/diacut_*.deb /tmp/
RUN apt-get update \
 && apt-get install --yes --no-install-recommends /tmp/diacut_*.deb pocl-opencl-icd \
 && rm -rf /tmp/diacut_*.deb /var/lib/apt/lists/*
# PoCL loads the kernels that it compiles as libraries. A volume can be written and executed from,
# even where the root is read-only and a plain temporary file system may not hold programs.
VOLUME /tmp
WORKDIR /data
USER nobody
ENTRYPOINT ["segment"]
CMD ["--help"]
