# The operator's image: docker build -t specdec.dev/specdec-operator:0.1.0 .
# The first stage has pip and the build tools; the second has neither.
ARG PYTHON=python:3.11-slim-bookworm

FROM ${PYTHON} AS build
WORKDIR /src
RUN python3 -m venv /opt/build && python3 -m venv --without-pip /opt/specdec
COPY requirements/runtime.txt requirements/build.txt requirements/
RUN /opt/build/bin/pip install --no-cache-dir --require-hashes -r requirements/build.txt \
 && /opt/build/bin/pip --python /opt/specdec/bin/python3 install --no-cache-dir --no-compile --require-hashes -r requirements/runtime.txt
COPY pyproject.toml README.md LICENSE ./
COPY operator operator
RUN /opt/build/bin/pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir dist . \
 && /opt/build/bin/pip --python /opt/specdec/bin/python3 install --no-cache-dir --no-compile --no-deps --no-index dist/*.whl
# The Kubernetes client comes with a module for every kind of the API (75 MB), loaded on use; the operator sends plain
# objects and uses none. The import proves that nothing else is missing, and compiles just what is used.
RUN find /opt/specdec/lib/python3.11/site-packages/kubernetes \
      \( -path '*/client/models/*' -o -path '*/client/api/*' \) -name '*.py' ! -name '__init__.py' -delete \
 && /opt/specdec/bin/python3 -c 'import specdec_operator.__main__'

FROM ${PYTHON}
LABEL org.opencontainers.image.title="specdec-operator" \
      org.opencontainers.image.description="Runs vLLM with the speculative decoding that pays right now" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /opt/specdec /opt/specdec
ENV PATH=/opt/specdec/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1
USER 65532:65532
EXPOSE 8080
ENTRYPOINT ["python3", "-m", "specdec_operator"]
