# The service in a container: slim, as an ordinary user, with a read-only root. Data are in /data, everything else is fixed.
#   docker build -t liantu .
#   docker run --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges -p 127.0.0.1:8765:8765 \
#       -v liantu:/data -v "$PWD/keys:/run/secrets/keys:ro" liantu
FROM python:3.11-slim AS build
WORKDIR /source
COPY . .
RUN python -m venv /opt/liantu \
    && PIP_CONSTRAINT=constraints.txt /opt/liantu/bin/pip install --no-cache-dir --no-compile '.[serve,mcp,neo4j,llm]'

FROM python:3.11-slim
RUN useradd --system --uid 10001 --create-home --home-dir /data liantu
COPY --from=build /opt/liantu /opt/liantu
ENV PATH=/opt/liantu/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 HOME=/tmp
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 8765
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8765/health', timeout=4)"]
ENTRYPOINT ["liantu"]
CMD ["serve", "--kb", "/data/kb.liantu", "--host", "0.0.0.0", "--keys", "/run/secrets/keys"]
