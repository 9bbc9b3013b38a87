# One image for web, live, workers, beat and migrations. The wheels bring libsndfile, ffmpeg and libpq.
FROM python:3.13-slim

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 \
    DJANGO_SETTINGS_MODULE=turingsite.settings.production \
    VAR_DIR=/var/lib/turingsite STATIC_ROOT=/srv/static

# The one thing no wheel brings: a font with Chinese, for figures as PNG.
RUN apt-get update && apt-get install --yes --no-install-recommends fonts-noto-cjk && rm -rf /var/lib/apt/lists/*

WORKDIR /srv/turingsite
COPY requirements.lock .
RUN pip install --disable-pip-version-check --require-hashes -r requirements.lock
COPY . .

# The values are for this one command: collecting static files needs no database and signs nothing.
RUN SECRET_KEY=only-for-collecting-static-files-at-build ALLOWED_HOSTS=build CSRF_TRUSTED_ORIGINS=https://build \
    DATABASE_URL=postgres://build@build/build REDIS_URL=redis://build/0 \
    python manage.py collectstatic --noinput --verbosity 0 \
    && useradd --system --uid 10001 turingsite \
    && install -d -o turingsite -g turingsite "$VAR_DIR"

USER turingsite
VOLUME /var/lib/turingsite
EXPOSE 8000 8001
CMD ["gunicorn", "turingsite.wsgi", "--config", "deploy/gunicorn.conf.py"]
