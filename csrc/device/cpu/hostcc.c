// Finds and runs the host's C++ compiler: see hostcc.h.
//
// The compiler is started with posix_spawn, because the process around us has threads: source in a
// file, messages through a pipe. Everything it may do is under one deadline and ends on Ctrl-C. Its
// temporary files go into the same private folder, so that killing it leaves no litter.
#define _GNU_SOURCE
#include "device/cpu/hostcc.h"

#include "device/cpu/cpu_target.h"
#include "device/cpu/simt_switch.h" // SIMT_ASAN
#include "device/cpu/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MAX_ARGUMENTS = 96, MAX_LOG = 64 * 1024, POLL_MS = 20 };

// No -ffast-math: a sum keeps the order that its variant says. errno and trapping are not observed.
static const char options[] =
    "-x c++ -std=c++17 -O3 -fPIC -shared -fvisibility=hidden -fno-math-errno "
    "-fno-trapping-math -fwrapv -fno-strict-aliasing -fno-exceptions -fno-rtti -w -pipe"
#if SIMT_ASAN
    " -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined"
#endif
    ;

typedef struct command { // points into the texts it was split from
    char *arguments[MAX_ARGUMENTS + 1];
    int count;
} command;

static cubc_status command_add(command *c, char *words)
{
    char *rest = words, *word;
    while ((word = strtok_r(rest, " ", &rest)) != NULL) {
        if (c->count == MAX_ARGUMENTS)
            FAIL(CUBC_INVALID_ARGUMENT,
                 "CUBC_CXXFLAGS and the compiler's command have more than "
                 "%d words",
                 MAX_ARGUMENTS);
        c->arguments[c->count++] = word;
    }
    c->arguments[c->count] = NULL;
    return CUBC_OK;
}

// ---- finding it ---------------------------------------------------------------------------------
static bool is_program(const char *path)
{
    struct stat what;
    return stat(path, &what) == 0 && S_ISREG(what.st_mode) && access(path, X_OK) == 0;
}

static bool find_on_path(const char *name, text *found)
{
    const char *folder = getenv("PATH");
    if (strchr(name, '/')) {
        text_puts(found, name);
        return !found->failed && is_program(name);
    }
    while (folder && *folder) {
        size_t length = strcspn(folder, ":");
        found->length = 0;
        if (length)
            text_append(found, folder, length);
        else
            text_puts(found, ".");
        text_printf(found, "/%s", name);
        if (!found->failed && is_program(found->data)) return true;
        folder += length;
        if (*folder == ':') folder++;
    }
    return false;
}

// The full path of the compiler and, when the variable holds more than a name, what follows it.
static cubc_status find_compiler(text *path, const char **more)
{
    static const char *const variables[] = {"CUBC_CXX", "CXX"};
    static const char *const names[] = {"c++", "g++", "clang++"};
    *more = "";
    for (size_t i = 0; i < COUNT_OF(variables); i++) {
        const char *value = getenv(variables[i]);
        if (!value || value[strspn(value, " ")] == '\0') continue;
        value += strspn(value, " ");
        text name = {0};
        bool is_whole = strchr(value, '/') && is_program(value); // a path that may have spaces
        size_t length = is_whole ? strlen(value) : strcspn(value, " ");
        text_append(&name, value, length);
        bool found = !name.failed && find_on_path(name.data, path);
        bool failed = name.failed || path->failed;
        text_free(&name);
        if (failed) return CUBC_NO_MEMORY;
        if (!found)
            FAIL(CUBC_COMPILE_ERROR, "%s names the C++ compiler \"%s\", which is not there",
                 variables[i], value);
        *more = value + length;
        return CUBC_OK;
    }
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (find_on_path(names[i], path)) return CUBC_OK;
        if (path->failed) return CUBC_NO_MEMORY;
    }
    FAIL(
        CUBC_COMPILE_ERROR,
        "no C++ compiler on PATH, which the \"cpu\" device needs: install g++ (Debian: apt install "
        "g++) or name one in CUBC_CXX");
}

static cubc_status write_file(const char *path, const char *bytes, size_t length)
{
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool written = file >= 0 && file_write(file, bytes, length);
    int error = errno;
    if (file >= 0) close(file);
    if (!written) FAIL(CUBC_IO_ERROR, "cannot write %s: %s", path, strerror(error));
    return CUBC_OK;
}

// ---- running it ---------------------------------------------------------------------------------
typedef struct job {
    pid_t pid;
    int messages;   // the read end of its standard error
    unsigned forks; // fork_count() of the process that waits for it
    text log;
} job;

// Our environment, except that messages are English and temporary files go into `folder`. The two
// strings must outlive the array.
static char **child_environment(char *folder)
{
    static char english[] = "LC_ALL=C";
    size_t count = 0;
    while (environ && environ[count]) count++;
    char **copy = mem_alloc(count + 3, sizeof *copy);
    if (!copy) return NULL;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "TMPDIR=", 7) != 0 && strncmp(environ[i], "LC_ALL=", 7) != 0)
            copy[kept++] = environ[i];
    copy[kept++] = english;
    copy[kept++] = folder;
    copy[kept] = NULL;
    return copy;
}

static int pipe_close_on_exec(int ends[2])
{
    return pipe2(ends, O_CLOEXEC);
}

static atomic_uint started;

unsigned hostcc_started(void)
{
    return atomic_load(&started);
}

static int spawn(job *j, char **arguments, char **environment, const char *input, int messages)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE); // Python ignores it, and a compiler's pipes rely on it
    sigaddset(&usual, SIGINT);
    sigaddset(&usual, SIGCHLD);
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    error = posix_spawnattr_init(&attributes);
    if (error) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    error = posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, messages, 1);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, messages, 2);
    atomic_fetch_add(&started, 1);
    if (!error)
        error = posix_spawn(&j->pid, arguments[0], &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static cubc_status job_start(job *j, char **arguments, char **environment, const char *input)
{
    int ends[2];
    *j = (job){.pid = -1, .messages = -1, .forks = fork_count()};
    if (pipe_close_on_exec(ends) != 0)
        FAIL(CUBC_IO_ERROR, "cannot make a pipe: %s", strerror(errno));
    int error = spawn(j, arguments, environment, input, ends[1]);
    close(ends[1]);
    if (error) {
        close(ends[0]);
        FAIL(CUBC_COMPILE_ERROR, "cannot run %s: %s", arguments[0], strerror(error));
    }
    j->messages = ends[0];
    return CUBC_OK;
}

// Takes what the pipe holds, waiting for at most `wait_ms`; closes it at its end. Text that does
// not fit in the log is dropped.
static void job_read(job *j, int wait_ms)
{
    char buffer[4096];
    struct pollfd wait = {.fd = j->messages, .events = POLLIN};
    if (poll(&wait, 1, wait_ms) <= 0 || j->messages < 0) return; // nothing yet, or a signal
    ssize_t length = read(j->messages, buffer, sizeof buffer);
    if (length < 0 && errno == EINTR) return;
    if (length <= 0) {
        close(j->messages);
        j->messages = -1; // which poll takes for a pipe that never has anything
    } else if (j->log.length + (size_t)length <= MAX_LOG) {
        text_append(&j->log, buffer, (size_t)length);
    }
}

// Tells if the compiler has ended, and with which status: 0 also where that is lost, since SIGCHLD
// is ignored or somebody waited for all children.
static bool job_ended(job *j, int *exit_status)
{
    pid_t ended;
    *exit_status = 0;
    do ended = waitpid(j->pid, exit_status, WNOHANG);
    while (ended < 0 && errno == EINTR);
    return ended != 0;
}

// Kills the whole group, and does not wait for processes that do not end at once.
static void job_kill(job *j)
{
    int unused;
    kill(-j->pid, SIGKILL);
    for (int waited = 0; waited < 1000 && !job_ended(j, &unused); waited++) nap(0.001);
}

// The compiler has ended when its process has. The pipe says nothing: the compiler may close it
// early, and a process that it started may keep it open.
static cubc_status job_run(job *j, double limit_s, const char *doing, int *exit_status)
{
    double deadline = limit_s > 0 ? now_seconds() + limit_s : 0;
    int pause_ms = 1; // after the pipe's end, before which there is something to wait for
    while (!job_ended(j, exit_status)) {
        job_read(j, j->messages < 0 ? pause_ms : POLL_MS);
        if (j->messages < 0 && pause_ms < POLL_MS) pause_ms *= 2;
        bool interrupted = interrupt_pending();
        TRY(fork_refuse(j->forks, "a compilation"));
        if (interrupted) FAIL(CUBC_INTERRUPTED, "interrupted while %s", doing);
        if (deadline > 0 && now_seconds() > deadline)
            FAIL(CUBC_TIMEOUT, "%s took longer than %g s and was stopped", doing, limit_s);
    }
    for (size_t before = SIZE_MAX; j->messages >= 0 && j->log.length != before;) {
        before = j->log.length;
        job_read(j, 0);
    }
    return CUBC_OK;
}

// Runs to the end, or kills. *exit_status is set on success.
static cubc_status job_finish(job *j, double limit_s, const char *doing, int *exit_status)
{
    cubc_status status = job_run(j, limit_s, doing, exit_status);
    if (status && j->forks == fork_count()) job_kill(j);
    if (j->messages >= 0) close(j->messages);
    if (status == CUBC_OK && j->log.failed) return text_done(&j->log);
    return status;
}

// ---- its name -----------------------------------------------------------------------------------
// "g++ (Debian 12.2.0-14) 12.2.0", "Debian clang version 14.0.6": the family and the last word, of
// those that start with a digit, in the first line.
static void parse_version(const char *line, char *name, size_t size)
{
    char version[32] = "";
    size_t length = strcspn(line, "\n");
    for (size_t i = 0; i < length; i++) {
        if (line[i] < '0' || line[i] > '9' || i == 0 || line[i - 1] != ' ') continue;
        size_t word = strcspn(line + i, " \n-+~(");
        snprintf(version, sizeof version, "%.*s", (int)word, line + i);
    }
    const char *clang = strstr(line, "clang");
    bool is_clang = clang && clang < line + length;
    snprintf(name, size, "%s %s", is_clang ? "clang++" : "g++", version[0] ? version : "unknown");
}

static cubc_status ask_version(const char *path, const char *more, char *name, size_t size)
{
    text words = {0};
    command c = {0};
    job j = {.messages = -1};
    int exit_status = 0;
    text_printf(&words, "%s --version", more);
    cubc_status status;
    GUARD(status, text_done(&words), done);
    c.arguments[c.count++] = (char *)path;
    GUARD(status, command_add(&c, words.data), done);
    GUARD(status, job_start(&j, c.arguments, environ, "/dev/null"), done);
    GUARD(status, job_finish(&j, 30, "asking the C++ compiler for its version", &exit_status),
          done);
    if (exit_status != 0 || !j.log.data)
        status = error_set(__FILE__, __LINE__, CUBC_COMPILE_ERROR,
                           "%s --version fails: is it a C++ compiler?", path);
    else
        parse_version(j.log.data, name, size);
done:
    text_free(&j.log);
    text_free(&words);
    return status;
}

FORK_SAFE_MUTEX(lock); // guards what hostcc_name knows

cubc_status hostcc_name(char *name, size_t size)
{
    static char known_for[65], known[64]; // asking costs a few milliseconds
    text path = {0}, all = {0};
    const char *more, *extra = getenv("CUBC_CXXFLAGS");
    char family[64], key[65], target[TARGET_BYTES];
    cubc_status status;
    GUARD(status, find_compiler(&path, &more), done);
    // The code is for a processor, so a cache that two kinds of them share must tell them apart.
    GUARD(status, cpu_target_name(target), done);
    text_printf(&all, "%s%s\n%s\n%s\n%s\n", path.data, more, options, extra ? extra : "", target);
    GUARD(status, text_done(&all), done);
    sha256_hex(all.data, all.length, key);

    pthread_mutex_lock(&lock);
    bool hit = strcmp(key, known_for) == 0;
    memcpy(family, known, sizeof family);
    pthread_mutex_unlock(&lock);
    if (!hit) {
        GUARD(status, ask_version(path.data, more, family, sizeof family), done);
        pthread_mutex_lock(&lock);
        memcpy(known_for, key, sizeof key);
        memcpy(known, family, sizeof family);
        pthread_mutex_unlock(&lock);
    }
    snprintf(name, size, "%s %.8s", family, key);
done:
    text_free(&all);
    text_free(&path);
    return status;
}

// ---- compiling ----------------------------------------------------------------------------------
static cubc_status rejected(const compile_request *request, const text *log, int exit_status)
{
    char line[512] = "";
    if (log->data) error_line(log->data, line, sizeof line);
    cubc_status status;
    if (WIFSIGNALED(exit_status))
        status = error_set(__FILE__, __LINE__, CUBC_COMPILE_ERROR,
                           "%s does not compile: the compiler was killed by signal %d",
                           request->label, WTERMSIG(exit_status));
    else
        status = error_set(__FILE__, __LINE__, CUBC_COMPILE_ERROR, "%s does not compile: %s",
                           request->label, line[0] ? line : "the compiler gave no reason");
    if (log->data) error_set_log(log->data, log->length);
    return status;
}

static cubc_status take_output(const compile_request *request, const char *path, const job *j,
                               int exit_status, binary *out)
{
    text bytes = {0};
    if (exit_status != 0 || access(path, R_OK) != 0) return rejected(request, &j->log, exit_status);
    cubc_status status = file_read(path, &bytes);
    if (status) {
        text_free(&bytes);
        return status;
    }
    *out = (binary){(uint8_t *)bytes.data, bytes.length};
    return CUBC_OK;
}

// A compilation in a folder of its own, and what its command points to.
typedef struct compilation {
    text compiler, folder, source, output, temporary, words;
    command command;
    char **environment;
    job job;
} compilation;

static cubc_status write_source(compilation *c, const char *source)
{
    TRY(temporary_make(&c->folder));
    text_printf(&c->source, "%s/kernel.cu", c->folder.data);
    text_printf(&c->output, "%s/kernel.so", c->folder.data);
    text_printf(&c->temporary, "TMPDIR=%s", c->folder.data);
    TRY(text_done(&c->source));
    TRY(text_done(&c->output));
    TRY(text_done(&c->temporary));
    return write_file(c->source.data, source, strlen(source));
}

// Tells if brackets nest about as deeply as clang takes them, of which a step of a lazy expression
// has two.
static bool nests_deeply(const char *source)
{
    const int most = 200;
    int depth = 0;
    for (; *source && depth < most; source++) depth += (*source == '(') - (*source == ')');
    return depth == most;
}

static cubc_status add_depth(const char *source, text *words)
{
    char family[64];
    if (!nests_deeply(source)) return CUBC_OK;
    TRY(hostcc_name(family, sizeof family));
    if (strncmp(family, "clang", 5) == 0) text_puts(words, " -fbracket-depth=2048");
    return CUBC_OK;
}

static cubc_status make_command(compilation *c, const char *more, const char *source)
{
    static char dash_o[] = "-o", standard_input[] = "-";
    const char *extra = getenv("CUBC_CXXFLAGS");
    text_printf(&c->words, "%s %s %s %s %s", more, options, cpu_target_option(), extra ? extra : "",
                device_source_rounds(source) ? "-ffp-contract=off" : "");
    TRY(device_source_options(source, &c->words));
    TRY(add_depth(source, &c->words));
    TRY(text_done(&c->words));
    // The names of the compiler and the folder may have spaces: they are not among the words that
    // are split.
    char *const last[] = {dash_o, c->output.data, standard_input};
    c->command.arguments[c->command.count++] = c->compiler.data;
    TRY(command_add(&c->command, c->words.data));
    if (c->command.count + (int)COUNT_OF(last) > MAX_ARGUMENTS)
        FAIL(CUBC_INVALID_ARGUMENT, "CUBC_CXXFLAGS has too many words");
    for (size_t k = 0; k < COUNT_OF(last); k++) c->command.arguments[c->command.count++] = last[k];
    c->command.arguments[c->command.count] = NULL;
    return CUBC_OK;
}

static cubc_status compile(compilation *c, const compile_request *request, binary *out)
{
    char doing[512];
    const char *more;
    int exit_status = 0;
    TRY(find_compiler(&c->compiler, &more));
    TRY(write_source(c, request->source));
    TRY(make_command(c, more, request->source));
    c->environment = child_environment(c->temporary.data);
    if (!c->environment) return CUBC_NO_MEMORY;
    TRY(job_start(&c->job, c->command.arguments, c->environment, c->source.data));
    snprintf(doing, sizeof doing, "compiling %s", request->label);
    TRY(job_finish(&c->job, request->deadline_s, doing, &exit_status));
    return take_output(request, c->output.data, &c->job, exit_status, out);
}

cubc_status hostcc_compile(const compile_request *request, binary *out)
{
    compilation c = {.job = {.messages = -1, .forks = fork_count()}};
    cubc_status status = compile(&c, request, out);
    if (c.job.forks == fork_count()) temporary_remove(c.folder.data);
    mem_free(c.environment);
    text *const texts[] = {&c.compiler,  &c.folder, &c.source, &c.output,
                           &c.temporary, &c.words,  &c.job.log};
    for (size_t k = 0; k < COUNT_OF(texts); k++) text_free(texts[k]);
    return status;
}
