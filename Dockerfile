# An image that segments photographs, with PoCL for machines without a GPU:
#
#   docker build --tag diacut .
#   docker run --rm --read-only --user "$(id -u):$(id -g)" --volume "$PWD:/data" \
#     --volume diacut-kernels:/kernels diacut photo.jpg --output labels.png
#
# It needs no network, no writable root and no home. docs/install.md has recipes for GPUs.
ARG BASE=debian:bookworm-20251229-slim

FROM $BASE AS build
WORKDIR /source
# Packages come first, so that a change to the sources does not install them again.
COPY setup.sh .
RUN ./setup.sh packages
COPY . .
RUN ./setup.sh package

FROM $BASE
ARG DRIVERS=pocl-opencl-icd
COPY --from=build /source/build/release/diacut_*.deb /tmp/
# NVIDIA's driver comes from the host; without it the loader passes its file over.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends /tmp/diacut_*.deb $DRIVERS \
 && rm -rf /tmp/diacut_*.deb /var/lib/apt/lists/* \
 && mkdir --parents /etc/OpenCL/vendors \
 && echo libnvidia-opencl.so.1 > /etc/OpenCL/vendors/nvidia.icd \
 && mkdir --mode=1777 /kernels
# PoCL loads the kernels that it compiles as libraries, and finds them again in a volume that is
# named. A volume can be executed from, which a plain temporary file system may not.
ENV POCL_CACHE_DIR=/kernels
VOLUME /kernels /tmp
WORKDIR /data
USER nobody
ENTRYPOINT ["segment"]
CMD ["--help"]
