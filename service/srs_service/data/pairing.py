"""The database and the data folder belong together: both hold one random id.

The service removes files that its database does not know. With another database that would be all
of them, so a service that finds two that were never used together does not start.
"""

from __future__ import annotations

import secrets

from srs_service.data.layout import DataFolder
from srs_service.database import JobStore
from srs_service.errors import Unavailable

SECRET = "data folder"  # the id's name in the database


def pair(folder: DataFolder, store: JobStore) -> None:
    """Give a new pair its id; Unavailable if the two are no pair.

    Pairs from before there were ids, and those that lost one, are known by what they hold. Replicas
    that start together agree: the first id in the database is everybody's.
    """
    of_folder, of_database = folder.read_id(), store.keys.find_secret(SECRET)
    if of_folder is not None and of_folder == of_database:
        return
    if (of_folder is None or of_database is None) and _fit(folder, store, of_database is not None):
        kept = store.keys.keep_secret(SECRET, of_folder or secrets.token_hex(16))
        if of_folder in (None, kept):
            folder.write_id(kept)
            return
    raise Unavailable(
        f"the database and the data folder {folder.root} do not belong together: set "
        "SRS_DATABASE_URL and SRS_DATA_DIR to a pair, or restore both from one backup."
    )


def _fit(folder: DataFolder, store: JobStore, has_id: bool) -> bool:
    """Whether a folder and a database that lack an id may be a pair.

    has_id  whether it is the folder that lacks it: then an empty one is of a new database only
    """
    held = folder.held()
    if any(held.values()):
        return any(store.known_ids(noun, ids) for noun, ids in held.items())
    return not has_id or store.is_empty()
