// The store among processes and threads: races, kills, users who may only read.
#define _XOPEN_SOURCE 700
#include "store_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

enum { WRITERS = 4, ROWS = 60 };

// Adds rows `first` to `first + ROWS - 1`; how many of them it was the one to add, -1 on an error.
static int add_rows(store *s, int first)
{
    int mine = 0;
    for (int i = first; i < first + ROWS; i++) {
        char variant[32];
        bool added;
        snprintf(variant, sizeof variant, "ipt_%d", i);
        store_row row = some_row(variant);
        if (store_add(s, &row, &added)) {
            printf("    %s\n", cubc_error_message());
            return -1;
        }
        mine += added;
    }
    return mine;
}

// Four processes make the same new file at once and add rows that overlap by half.
STORE_TEST(racing_writers)
{
    int ends[2], total = 0, mine;
    CHECK(pipe(ends) == 0);
    for (int w = 0; w < WRITERS; w++) {
        if (fork()) continue;
        store *s;
        mine = -1;
        if (store_open(path, STORE_CREATE, &s) || store_device(s, &some_device, "0.1.0"))
            printf("    %s\n", cubc_error_message());
        else
            mine = add_rows(s, w * ROWS / 2);
        if (mine >= 0) store_close(s);
        _exit(write(ends[1], &mine, sizeof mine) != sizeof mine);
    }
    for (int w = 0; w < WRITERS; w++) {
        CHECK(read(ends[0], &mine, sizeof mine) == sizeof mine && mine >= 0);
        total += mine;
    }
    while (wait(NULL) > 0) continue;
    close(ends[0]);
    close(ends[1]);
    CHECK(total == (WRITERS + 1) * ROWS / 2); // each row was added by one of them
    CHECK(rows_in_file() == total);
}

// Whoever reads beside a writer finds whole rows, those of before among them, and nothing amiss.
STORE_TEST(readers_beside_a_writer)
{
    int seen = 0, readings = 0;
    make_store(0);
    pid_t child = fork();
    if (child == 0) {
        store *s = open_with_device();
        for (int k = 0; s && k < 8; k++) {
            if (add_rows(s, k * ROWS) != ROWS) _exit(1);
            store_close(s); // the log goes, and begins anew
            s = open_with_device();
        }
        store_close(s);
        _exit(0);
    }
    int status = 1;
    while (waitpid(child, &status, WNOHANG) == 0) {
        cubc_status st = CUBC_OK;
        store *s = open_store(STORE_READ);
        int rows = s ? count_rows(s, &st) : -1;
        store_close(s);
        CHECK(rows >= seen && !st);
        seen = rows;
        readings++;
    }
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0 && readings > 3);
    CHECK(rows_in_file() == 8 * ROWS);
}

static void *add_rows_in_thread(void *s)
{
    return (void *)(intptr_t)add_rows(s, 0);
}

STORE_TEST(threads_on_one_store)
{
    pthread_t threads[WRITERS];
    intptr_t total = 0;
    store *s = open_with_device();
    if (!s) return;
    for (int i = 0; i < WRITERS; i++)
        CHECK(pthread_create(&threads[i], NULL, add_rows_in_thread, s) == 0);
    for (int i = 0; i < WRITERS; i++) {
        void *mine;
        pthread_join(threads[i], &mine);
        CHECK((intptr_t)mine >= 0);
        total += (intptr_t)mine;
    }
    CHECK(total == ROWS);
    store_close(s);
    CHECK(rows_in_file() == ROWS);
}

// Adds rows from `first` on for ever, naming each through the pipe once it is stored.
static void write_until_killed(int out, int first)
{
    store *s;
    if (store_open(path, STORE_CREATE, &s) || store_device(s, &some_device, "0.1.0")) _exit(1);
    for (int i = first;; i++) {
        char variant[32];
        bool added;
        snprintf(variant, sizeof variant, "ipt_%d", i);
        store_row row = some_row(variant);
        if (store_add(s, &row, &added) || write(out, &i, sizeof i) != sizeof i) _exit(1);
    }
}

STORE_TEST(killed_writers)
{
    int acknowledged = 0, last = -1;
    for (int round = 0; round < 25; round++) {
        int ends[2], i;
        CHECK(pipe(ends) == 0);
        pid_t child = fork();
        if (child == 0) write_until_killed(ends[1], last + 1);
        close(ends[1]);
        // The first rounds are killed while the store is being made, the others among their rows.
        for (int n = 0; round >= 8 && n < 10 && read(ends[0], &i, sizeof i) == sizeof i; n++) {
            acknowledged++;
            last = i;
        }
        nanosleep(&(struct timespec){0, 1000000L * round}, NULL);
        kill(child, SIGKILL);
        while (read(ends[0], &i, sizeof i) == sizeof i) {
            acknowledged++;
            last = i;
        }
        close(ends[0]);
        waitpid(child, NULL, 0);
    }
    store *s = open_with_device();
    if (!s) return;
    int missing = 0;
    for (int i = 0; i <= last; i++) {
        char variant[32];
        bool found = false;
        snprintf(variant, sizeof variant, "ipt_%d", i);
        store_row row = some_row(variant);
        int64_t id;
        CHECK_STATUS(store_find(s, &row, &id, &found), CUBC_OK);
        missing += !found;
    }
    store_close(s);
    CHECK(acknowledged >= 170 && acknowledged >= last && missing == 0);
    sql *db;
    int64_t errors = -1;
    CHECK_STATUS(sql_open(path, false, SQL_WAIT_S, NULL, 0, &db), CUBC_OK);
    sql_trust(db);
    CHECK_STATUS(sql_integer(db,
                             "SELECT count(*) FROM pragma_integrity_check"
                             " WHERE integrity_check <> 'ok'",
                             &errors),
                 CUBC_OK);
    CHECK(errors == 0);
    sql_close(db);
}

// Nothing is written to a file that nobody would find any more, or that is another one by now.
STORE_TEST(removed_while_open)
{
    bool added = true;
    store_row row = some_row("late");
    store *s = open_with_device();
    if (!s) return;
    CHECK(add_row(s, "base"));
    CHECK(unlink(path) == 0);
    CHECK_STATUS(store_add(s, &row, &added), CUBC_STORE_ERROR);
    CHECK(!added && strstr(cubc_error_message(), "was removed or replaced"));
    make_store(1);
    CHECK_STATUS(store_add(s, &row, &added), CUBC_STORE_ERROR);
    store_close(s);
    CHECK(rows_in_file() == 1);
}

// Runs a check as a user who owns nothing here. False: this machine cannot.
static bool as_nobody(bool (*check)(void), bool *passed)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && (setgid(65534) || setuid(65534))) _exit(2);
        _exit(check() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    *passed = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return !(WIFEXITED(status) && WEXITSTATUS(status) == 2);
}

static bool reads_three_rows(void)
{
    return rows_in_file() == 3 && refuses(STORE_CREATE, CUBC_STORE_ERROR, "is read-only");
}

static bool reads_three_rows_in_closed_folder(void)
{
    store *s = NULL;
    return rows_in_file() == 3 && store_open(path, STORE_CREATE, &s) != CUBC_OK;
}

static bool reads_four_rows(void)
{
    return rows_in_file() == 4;
}

// Folder and file readable, nothing writable: no sidecar files can be made.
STORE_TEST(read_only_folder)
{
    bool passed;
    make_store(3);
    CHECK(chmod(path, 0444) == 0 && chmod(folder, 0555) == 0);
    if (as_nobody(reads_three_rows_in_closed_folder, &passed))
        CHECK(passed);
    else
        printf("test_store_processes: read-only folder: not tested, root cannot become nobody\n");
    CHECK(chmod(folder, 0755) == 0);
}

STORE_TEST(read_only_file)
{
    bool passed;
    make_store(3);
    sql_on(path, "PRAGMA journal_mode = DELETE");
    CHECK(chmod(path, 0444) == 0 && chmod(folder, 0777) == 0);
    if (as_nobody(reads_three_rows, &passed))
        CHECK(passed);
    else
        printf("test_store_processes: read-only file: not tested, root cannot become nobody\n");
}

static void copy_file(const char *from, const char *to)
{
    text bytes = {0};
    CHECK_STATUS(file_read(from, &bytes), CUBC_OK);
    FILE *file = fopen(to, "wb");
    CHECK(file && fwrite(bytes.data, 1, bytes.length, file) == bytes.length);
    if (file) fclose(file);
    text_free(&bytes);
}

// Rows that are only in the log are read where nothing may be written.
STORE_TEST(read_only_folder_with_log)
{
    bool passed;
    char live[600], from[700], to[600];
    make_store(3);
    snprintf(live, sizeof live, "%s/live.db", folder);
    CHECK(rename(path, live) == 0);
    snprintf(from, sizeof from, "%s-wal", live);
    snprintf(to, sizeof to, "%s-wal", path);
    store *s;
    bool added;
    store_row row = some_row("in the log");
    CHECK_STATUS(store_open(live, STORE_CREATE, &s), CUBC_OK);
    CHECK_STATUS(store_device(s, &some_device, "0.1.0"), CUBC_OK);
    CHECK_STATUS(store_add(s, &row, &added), CUBC_OK);
    bool logged = access(from, F_OK) == 0; // not on a network file system
    copy_file(live, path);
    if (logged) copy_file(from, to);
    store_close(s);
    CHECK(chmod(path, 0444) == 0 && chmod(folder, 0555) == 0);
    if (!logged)
        printf("test_store_processes: log: not tested, this file system cannot have one\n");
    else if (as_nobody(reads_four_rows, &passed))
        CHECK(passed);
    else
        printf("test_store_processes: log: not tested, root cannot become nobody\n");
    CHECK(chmod(folder, 0755) == 0);
}

int main(int argc, char **argv)
{
    const check_test tests[] = {
        {"racing_writers", racing_writers},
        {"readers_beside_a_writer", readers_beside_a_writer},
        {"threads_on_one_store", threads_on_one_store},
        {"killed_writers", killed_writers},
        {"removed_while_open", removed_while_open},
        {"read_only_folder", read_only_folder},
        {"read_only_file", read_only_file},
        {"read_only_folder_with_log", read_only_folder_with_log},
    };
    return check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
}
