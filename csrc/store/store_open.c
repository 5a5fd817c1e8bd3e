// Opening of a store: a file, upgraded before it is written to, or an image.
#include "store/store_private.h"

cubc_status store_open_within(const char *path, int mode, double wait_s, store **out)
{
    int version;
    sql *db;
    *out = NULL;
    if (mode != STORE_READ && mode != STORE_CREATE)
        FAIL(CUBC_INVALID_ARGUMENT, "store mode %d is neither STORE_READ nor STORE_CREATE", mode);
    bool write = mode == STORE_CREATE;
    TRY(schema_open(path, write, wait_s, &db, &version));
    if (write && version < STORE_VERSION) {
        TRY(store_upgrade(db, path));
        TRY(schema_open(path, write, wait_s, &db, &version));
    }
    if (!write || version == STORE_VERSION) return store_make(db, version, write, out);
    sql_close(db);
    FAIL(CUBC_STORE_ERROR, "%s was replaced by an older store meanwhile: try again", path);
}

cubc_status store_open(const char *path, int mode, store **out)
{
    return store_open_within(path, mode, SQL_WAIT_S, out);
}

cubc_status store_open_image(const char *path, store_image *image, store **out)
{
    int version;
    sql *db;
    *out = NULL;
    TRY(schema_open_image(path, image, &db, &version));
    return store_make(db, version, false, out);
}
