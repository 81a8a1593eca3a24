# The operator's image: built on Debian 12, shipped as the program and the libraries it needs. No shell, no root.
# Works on a read-only root file system. Without a registry, hack/image makes the base image and runs this.
FROM docker.io/library/debian:bookworm-slim AS build
WORKDIR /src
COPY hack/deps hack/packages.txt hack/
COPY hack/lib/ hack/lib/
RUN HOME=/root hack/deps build
COPY . .
RUN cmake --preset release -DKUBEXX_TESTS=OFF \
 && cmake --build --preset release --target kubexx-reloader \
 && hack/lib/rootfs.sh build/release/bin/kubexx-reloader /rootfs

FROM scratch
COPY --from=build /rootfs/ /
USER 65534:65534
EXPOSE 9090
ENTRYPOINT ["/kubexx-reloader"]
