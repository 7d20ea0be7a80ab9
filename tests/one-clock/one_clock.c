/*
 * One clock, one thread at a time, one seed: the same program does the same again.
 *
 * Preloaded (see `run`), this replaces what a program has of chance and time: random numbers follow from ONE_CLOCK_SEED,
 * threads take turns where they wait, and the clock stands still while one of them has something to do. When all wait, the
 * clock goes on to the earliest of their deadlines at once, so that nothing takes longer than its computation. Nothing
 * of the program knows of it: sockets of the program to itself work, as the kernel delivers at once on the loopback.
 *
 * It knows the calls by which Rust's standard library, tokio, mio and ring wait and get random numbers on Linux. The processes that a
 * program starts have the machine's clock. With ONE_CLOCK_FINGERPRINT set, a hash of all turns, times and random numbers is
 * printed in the end: equal ones are the same execution.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NEVER INT64_MAX
#define SECOND 1000000000LL
#define MOST_THREADS 4096
/* When the clocks start, in seconds: 2026-01-01T00:00:00Z, on a machine that has been up for a while. */
#define WALL 1767225600LL
#define UP 1000000LL
/* Each look at the clock takes so long, in nanoseconds: else who computes until some time has passed would never end. */
#define LOOK 1000

struct thread {
  int64_t deadline;
  /* Ended, and joined or detached: then another one may have its place. */
  int has_ended, is_released;
  pthread_t handle;
  pthread_cond_t turn;
  void *(*routine)(void *);
  void *argument;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct thread threads[MOST_THREADS];
static int places = 1, live = 1, current = 0;
/* How many turns ended without something to do, one after the other. */
static int idle = 0;
static int64_t now = 0;
static uint64_t random_state, fingerprint = 14695981039346656037ULL;
static __thread int self = 0;

static long (*real_syscall)(long, ...);
static int (*real_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static int (*real_join)(pthread_t, void **);
static int (*real_detach)(pthread_t);

static void note(uint64_t event) { fingerprint = (fingerprint ^ event) * 1099511628211ULL; }

__attribute__((constructor)) static void start(void) {
  *(void **)&real_syscall = dlsym(RTLD_NEXT, "syscall");
  *(void **)&real_create = dlsym(RTLD_NEXT, "pthread_create");
  *(void **)&real_join = dlsym(RTLD_NEXT, "pthread_join");
  *(void **)&real_detach = dlsym(RTLD_NEXT, "pthread_detach");
  const char *seed = getenv("ONE_CLOCK_SEED");
  random_state = seed ? strtoull(seed, NULL, 10) : 0;
  unsetenv("LD_PRELOAD");
  threads[0].deadline = NEVER;
  threads[0].handle = pthread_self();
  pthread_cond_init(&threads[0].turn, NULL);
}

__attribute__((destructor)) static void end(void) {
  if (getenv("ONE_CLOCK_FINGERPRINT"))
    fprintf(stderr, "one clock: fingerprint %016llx after %.3f s\n", (unsigned long long)fingerprint, (double)now / SECOND);
}

/* Turns. `lock` is held only while they change; who has the turn holds it in effect. */

static void hand_over(void) {
  do
    current = (current + 1) % places;
  while (threads[current].has_ended && live > 0);
  note((uint64_t)current);
  pthread_cond_signal(&threads[current].turn);
}

static void await_turn(void) {
  while (current != self)
    pthread_cond_wait(&threads[self].turn, &lock);
}

/* All wait. Without any deadline they wait for another process. */
static void advance(void) {
  int64_t earliest = NEVER;
  for (int i = 0; i < places; i++)
    if (!threads[i].has_ended && threads[i].deadline < earliest)
      earliest = threads[i].deadline;
  if (earliest == NEVER) {
    struct timespec moment = {0, SECOND / 1000};
    real_syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &moment, NULL);
  } else if (earliest > now) {
    now = earliest;
    note((uint64_t)now);
  }
}

static int wait_until(int (*is_ready)(void *), void *what, int64_t deadline) {
  int ready;
  pthread_mutex_lock(&lock);
  threads[self].deadline = deadline;
  while (!(ready = is_ready(what)) && now < deadline) {
    /* In a second round the kernel has delivered, also on a busy machine. */
    if (++idle > 2 * live) {
      advance();
      idle = 0;
      continue;
    }
    if (idle > live)
      real_syscall(SYS_sched_yield);
    hand_over();
    await_turn();
  }
  threads[self].deadline = NEVER;
  idle = 0;
  pthread_mutex_unlock(&lock);
  return ready;
}

static int64_t after(int64_t time) { return time > NEVER - now ? NEVER : now + time; }

static int64_t in_nanoseconds(const struct timespec *time) {
  return time->tv_sec > NEVER / SECOND - 1 ? NEVER : time->tv_sec * SECOND + time->tv_nsec;
}

static int64_t at(const struct timespec *time, int is_wall) {
  int64_t since_start = in_nanoseconds(time);
  return since_start == NEVER ? NEVER : since_start - (is_wall ? WALL : UP) * SECOND;
}

static int is_wall(clockid_t clock) { return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE; }

/* What a program waits for. */

struct polled {
  int epoll, most, count;
  struct epoll_event *events;
};

static int poll_once(void *what) {
  struct polled *it = what;
  it->count = (int)real_syscall(SYS_epoll_wait, it->epoll, it->events, it->most, 0);
  return it->count != 0;
}

int epoll_wait(int epoll, struct epoll_event *events, int most, int timeout) {
  struct polled it = {epoll, most, 0, events};
  if (timeout == 0)
    poll_once(&it);
  else
    wait_until(poll_once, &it, timeout < 0 ? NEVER : after(timeout * (SECOND / 1000)));
  return it.count;
}

struct word {
  uint32_t *address, expected;
};

static int has_changed(void *what) {
  struct word *it = what;
  return __atomic_load_n(it->address, __ATOMIC_SEQ_CST) != it->expected;
}

/* Whoever waits looks at the word in each turn, so that nobody has to be woken. */
static long futex(uint32_t *address, int operation, uint32_t expected, const struct timespec *timeout) {
  struct word it = {address, expected};
  int64_t deadline = NEVER;
  switch (operation & FUTEX_CMD_MASK) {
  case FUTEX_WAKE:
  case FUTEX_WAKE_BITSET:
    return 1;
  case FUTEX_WAIT:
    if (timeout)
      deadline = after(in_nanoseconds(timeout));
    break;
  case FUTEX_WAIT_BITSET:
    if (timeout)
      deadline = at(timeout, operation & FUTEX_CLOCK_REALTIME);
    break;
  default:
    fprintf(stderr, "one clock: the futex operation %d is not known\n", operation);
    abort();
  }
  if (has_changed(&it)) {
    errno = EAGAIN;
    return -1;
  }
  if (wait_until(has_changed, &it, deadline))
    return 0;
  errno = ETIMEDOUT;
  return -1;
}

static int never(void *what) {
  (void)what;
  return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left) {
  (void)left;
  wait_until(never, NULL, flags & TIMER_ABSTIME ? at(time, is_wall(clock)) : after(in_nanoseconds(time)));
  return 0;
}

int nanosleep(const struct timespec *time, struct timespec *left) {
  return clock_nanosleep(CLOCK_MONOTONIC, 0, time, left);
}

int sched_yield(void) {
  wait_until(never, NULL, after(LOOK));
  return 0;
}

/* Time and chance. */

int clock_gettime(clockid_t clock, struct timespec *time) {
  if (clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID)
    return (int)real_syscall(SYS_clock_gettime, clock, time);
  now += LOOK;
  time->tv_sec = (is_wall(clock) ? WALL : UP) + now / SECOND;
  time->tv_nsec = now % SECOND;
  return 0;
}

/* SplitMix64. */
ssize_t getrandom(void *buffer, size_t length, unsigned flags) {
  unsigned char *bytes = buffer;
  (void)flags;
  for (size_t i = 0; i < length; i++) {
    uint64_t z = random_state += 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    bytes[i] = (unsigned char)((z ^ (z >> 31)) >> 56);
  }
  note(random_state);
  return (ssize_t)length;
}

long syscall(long number, ...) {
  long a[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; i++)
    a[i] = va_arg(list, long);
  va_end(list);
  if (number == SYS_futex)
    return futex((uint32_t *)a[0], (int)a[1], (uint32_t)a[2], (const struct timespec *)a[3]);
  if (number == SYS_getrandom)
    return getrandom((void *)a[0], (size_t)a[1], (unsigned)a[2]);
  return real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* Threads. */

static void *run(void *what) {
  struct thread *it = what;
  self = (int)(it - threads);
  pthread_mutex_lock(&lock);
  await_turn();
  idle = 0;
  pthread_mutex_unlock(&lock);
  void *result = it->routine(it->argument);
  pthread_mutex_lock(&lock);
  it->has_ended = 1;
  live--;
  idle = 0;
  hand_over();
  pthread_mutex_unlock(&lock);
  return result;
}

int pthread_create(pthread_t *handle, const pthread_attr_t *attributes, void *(*routine)(void *), void *argument) {
  int place = 1;
  pthread_mutex_lock(&lock);
  while (place < places && !(threads[place].has_ended && threads[place].is_released))
    place++;
  if (place == MOST_THREADS) {
    fprintf(stderr, "one clock: more than %d threads\n", MOST_THREADS);
    abort();
  }
  struct thread *it = &threads[place];
  *it = (struct thread){.deadline = NEVER, .routine = routine, .argument = argument};
  pthread_cond_init(&it->turn, NULL);
  int error = real_create(handle, attributes, run, it);
  if (error)
    it->has_ended = it->is_released = 1;
  else {
    it->handle = *handle;
    live++;
  }
  if (place == places)
    places++;
  pthread_mutex_unlock(&lock);
  return error;
}

static struct thread *find(pthread_t handle) {
  for (int i = 0; i < places; i++)
    if (!threads[i].is_released && pthread_equal(threads[i].handle, handle))
      return &threads[i];
  fprintf(stderr, "one clock: a thread is joined or detached twice\n");
  abort();
}

static int has_ended(void *what) { return ((struct thread *)what)->has_ended; }

int pthread_join(pthread_t handle, void **result) {
  struct thread *it = find(handle);
  wait_until(has_ended, it, NEVER);
  int error = real_join(handle, result);
  it->is_released = 1;
  return error;
}

int pthread_detach(pthread_t handle) {
  find(handle)->is_released = 1;
  return real_detach(handle);
}
