"""Words that somebody works by never change, whoever asks: held by the database."""

from __future__ import annotations

from django.db import migrations

# ruff: noqa: S608  (names of our own tables)

SAID = "a frozen taxonomy never changes"
PARTS = ("annotation_category", "annotation_dimension")
FUNCTION = "frozen_taxonomy_never_changes"


def hold(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(
            f"CREATE FUNCTION {FUNCTION}() RETURNS trigger AS $$ BEGIN "
            f"RAISE EXCEPTION '{SAID}' USING ERRCODE = 'integrity_constraint_violation'; END $$ LANGUAGE plpgsql"
        )
        schema_editor.execute(
            f"CREATE FUNCTION {FUNCTION}_part() RETURNS trigger AS $$ BEGIN "
            "IF EXISTS (SELECT 1 FROM annotation_taxonomy t WHERE t.id = NEW.taxonomy_id AND t.frozen_at IS NOT NULL) "
            f"THEN RAISE EXCEPTION '{SAID}' USING ERRCODE = 'integrity_constraint_violation'; END IF; "
            "RETURN NEW; END $$ LANGUAGE plpgsql"
        )
        schema_editor.execute(
            f"CREATE TRIGGER {FUNCTION} BEFORE UPDATE ON annotation_taxonomy FOR EACH ROW "
            f"WHEN (OLD.frozen_at IS NOT NULL) EXECUTE FUNCTION {FUNCTION}()"
        )
        for table in PARTS:
            schema_editor.execute(
                f"CREATE TRIGGER {FUNCTION} BEFORE INSERT OR UPDATE ON {table} FOR EACH ROW "
                f"EXECUTE FUNCTION {FUNCTION}_part()"
            )
        return
    schema_editor.execute(
        f"CREATE TRIGGER {FUNCTION} BEFORE UPDATE ON annotation_taxonomy WHEN OLD.frozen_at IS NOT NULL "
        f"BEGIN SELECT RAISE(ABORT, '{SAID}'); END"
    )
    for table in PARTS:
        for moment in ("INSERT", "UPDATE"):
            schema_editor.execute(
                f"CREATE TRIGGER {FUNCTION}_{table}_{moment} BEFORE {moment} ON {table} "
                "WHEN EXISTS (SELECT 1 FROM annotation_taxonomy t WHERE t.id = NEW.taxonomy_id AND t.frozen_at IS NOT NULL) "
                f"BEGIN SELECT RAISE(ABORT, '{SAID}'); END"
            )


def release(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        for table in ("annotation_taxonomy", *PARTS):
            schema_editor.execute(f"DROP TRIGGER IF EXISTS {FUNCTION} ON {table}")
        schema_editor.execute(f"DROP FUNCTION IF EXISTS {FUNCTION}()")
        schema_editor.execute(f"DROP FUNCTION IF EXISTS {FUNCTION}_part()")
        return
    schema_editor.execute(f"DROP TRIGGER IF EXISTS {FUNCTION}")
    for table in PARTS:
        for moment in ("INSERT", "UPDATE"):
            schema_editor.execute(f"DROP TRIGGER IF EXISTS {FUNCTION}_{table}_{moment}")


class Migration(migrations.Migration):
    dependencies = [("annotation", "0001_initial")]

    operations = [migrations.RunPython(hold, release)]
