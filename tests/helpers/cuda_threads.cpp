// The threads of cuda_threads.h: who goes on, who meets whom, and which accesses to memory are allowed. Compiled once,
// without the sanitizers, and linked to the kernels of every family.
#include "cuda_threads.h"
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <link.h>
#include <sys/mman.h>

namespace emulator {

struct Range {
    uintptr_t begin, end;
};
static const char *const names[] = {"", "__syncthreads", "__activemask", "__syncwarp", "__ballot_sync", "__shfl_sync",
                                    "__match_any_sync", "__reduce_sync", ""};
constexpr unsigned MOST_TURNS = 100000000;  // some 14,000 for each level of a search

static Block *blocks;
Fiber *me;
static jmp_buf scheduler;
static Fiber *ready[MOST_BLOCKS * MOST_THREADS];
unsigned threads_of_block, blocks_of_grid, teams_of_grid;
static unsigned num_ready, preempt;
static Range ranges[1024];
static unsigned num_ranges, last_range;
static uint64_t state;
static char message[1024];
static size_t shared_used, dynamic_bytes;  // of declared variables; of the launch, which stand behind SHARED
static unsigned char declared[SHARED];
static void (*body)(void **);
static void **arguments;
static const char *kernel;

static uint64_t draw() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545f4914f6cdd1dULL >> 32;
}
static unsigned below(unsigned n) { return (unsigned)(draw() * n >> 32); }

[[noreturn]] static void fail(const char *format, ...) {
    va_list list;
    va_start(list, format);
    int used = std::snprintf(message, sizeof message, "%s: ", kernel);
    const size_t left = sizeof message - used;
    if (me) used += std::snprintf(message + used, left, "block %u, thread %u: ", me->block->index, me->thread);
    std::vsnprintf(message + used, sizeof message - used, format, list);
    va_end(list);
    _longjmp(scheduler, 2);
}

static void make_ready(Fiber *fiber) {
    fiber->waits = READY;
    if (!fiber->in_ready) {
        fiber->in_ready = true;
        ready[num_ready++] = fiber;
    }
}
unsigned long long nanoseconds() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ULL + now.tv_nsec;
}
static void leave() {  // until the scheduler takes this thread again
    if (!_setjmp(me->at)) _longjmp(scheduler, 1);
}
void yield() {
    make_ready(me);
    leave();
}
void maybe_yield(unsigned one_of) {
    if (preempt && below(one_of) == 0) yield();
}

static void open_barrier(Block *block) {
    block->arrived = 0;
    for (unsigned i = 0; i < threads_of_block; i++) {
        Fiber &fiber = block->fibers[i];
        if (fiber.waits != SYNC_THREADS) continue;
        fiber.out = fiber.mask == 1 ? block->any : fiber.mask == 2 ? block->all : block->sum;
        make_ready(&fiber);
    }
}
uint64_t sync_threads(unsigned how, uint64_t value, uint64_t place) {
    Block *block = me->block;
    if (block->arrived == 0) {
        block->any = block->sum = 0;
        block->all = 1;
    }
    for (unsigned i = 0; i < threads_of_block; i++) {
        const Fiber &other = block->fibers[i];
        if (other.waits == SYNC_THREADS && (other.place != place || other.mask != how))
            fail("waits at another __syncthreads than thread %u", i);
        if (other.waits == SYNC_THREADS) break;
    }
    block->any |= value != 0;
    block->all &= value != 0;
    block->sum += value != 0;
    me->waits = SYNC_THREADS;
    me->place = place;
    me->mask = how;
    block->arrived++;
    if (block->arrived == block->alive) open_barrier(block);
    leave();
    return me->out;
}

// Give every lane of the mask what it asked for.
static void meet(Fiber *warp, Waiting kind, unsigned mask) {
    unsigned votes = 0;
    for (unsigned lane = 0; lane < WARP; lane++)
        if (mask >> lane & 1 && warp[lane].value) votes |= 1u << lane;
    for (unsigned lane = 0; lane < WARP; lane++) {
        if (!(mask >> lane & 1)) continue;
        Fiber &fiber = warp[lane];
        if (kind == BALLOT) {
            fiber.out = votes;
        } else if (kind == SHUFFLE) {
            // A lane that is not in the mask has no value to give: what comes is undefined.
            fiber.out = mask >> fiber.lane & 1 ? warp[fiber.lane].value : 0xa5a5a5a5a5a5a5a5ULL ^ draw();
        } else if (kind == MATCH) {
            unsigned same = 0;
            for (unsigned other = 0; other < WARP; other++)
                if (mask >> other & 1 && warp[other].value == fiber.value) same |= 1u << other;
            fiber.out = same;
        }
    }
    if (kind == REDUCE) {
        uint64_t result = 0;
        bool first = true;
        const int how = warp[__builtin_ctz(mask)].lane;
        for (unsigned lane = 0; lane < WARP; lane++) {
            if (!(mask >> lane & 1)) continue;
            const uint64_t x = warp[lane].value;
            const bool more = how >= 5 ? (int64_t)x > (int64_t)result : x > result;
            if (first) result = x;
            else if (how == 0) result = (uint32_t)(result + x);
            else if (how == 1) result &= x;
            else if (how == 2) result |= x;
            else if (how == 3 || how == 5) result = more ? result : x;
            else result = more ? x : result;
            first = false;
        }
        for (unsigned lane = 0; lane < WARP; lane++)
            if (mask >> lane & 1) warp[lane].out = result;
    }
    for (unsigned lane = 0; lane < WARP; lane++)
        if (mask >> lane & 1) make_ready(warp + lane);
}
uint64_t warp_call(Waiting kind, unsigned mask, uint64_t value, int lane, uint64_t place) {
    const unsigned self = me->thread % WARP;
    Fiber *warp = me - self;
    if (!(mask >> self & 1)) fail("%s with the mask %08x, which leaves itself out", names[kind], mask);
    me->waits = kind;
    me->mask = mask;
    me->value = value;
    me->lane = lane;
    me->place = place;
    bool all = true;
    for (unsigned i = 0; i < WARP; i++) {
        if (!(mask >> i & 1)) continue;
        const Fiber &other = warp[i];
        const bool exists = me->thread - self + i < threads_of_block;
        if (!exists || other.waits == ENDED)
            fail("%s with the mask %08x, whose lane %u has left the kernel", names[kind], mask, i);
        if (other.waits != kind) all = false;
        else if (other.mask != mask)
            fail("%s with the mask %08x, but lane %u has %08x", names[kind], mask, i, other.mask);
        else if (other.place != place) fail("lane %u is at another %s than this one", i, names[kind]);
    }
    if (all) meet(warp, kind, mask);
    leave();
    return me->out;
}
unsigned active_mask(uint64_t place) {
    make_ready(me);
    me->waits = ACTIVE_MASK;
    me->place = place;
    leave();
    return (unsigned)me->out;
}
// Any of the lanes that stand where this one does.
static void activate(Fiber *fiber) {
    Fiber *warp = fiber - fiber->thread % WARP;
    const unsigned chosen = below(2) ? 0xffffffffu : (unsigned)draw();
    unsigned mask = 0;
    for (unsigned i = 0; i < WARP; i++) {
        const Fiber &other = warp[i];
        const bool here = other.waits == ACTIVE_MASK && other.place == fiber->place;
        if (here && (chosen >> i & 1 || &other == fiber)) mask |= 1u << i;
    }
    for (unsigned i = 0; i < WARP; i++) {
        if (!(mask >> i & 1)) continue;
        warp[i].out = mask;
        warp[i].waits = READY;
    }
}

void check(const void *address, size_t size, bool writes) {
    const char *const what = writes ? "writes" : "reads";
    const uintptr_t at = (uintptr_t)address, end = at + size;
    const auto within = [=](const void *begin, size_t length) {
        return at >= (uintptr_t)begin && end <= (uintptr_t)begin + length;
    };
    if (within(me->stack, STACK)) return;
    if (within(me->block->shared + SHARED, SHARED)) {
        if (!within(me->block->shared + SHARED, dynamic_bytes))
            fail("%s %zu bytes of shared memory outside of the %zu of the launch", what, size, dynamic_bytes);
    } else if (!within(me->block->shared, SHARED)) {
        if (!(at >= ranges[last_range].begin && end <= ranges[last_range].end)) {
            unsigned i = 0;
            while (i < num_ranges && !(at >= ranges[i].begin && end <= ranges[i].end)) i++;
            if (i == num_ranges) {
                const Range *nearest = nullptr;
                unsigned which = 0;
                for (i = 1; i < num_ranges; i++)
                    if (ranges[i].begin <= at && (!nearest || ranges[i].begin > nearest->begin))
                        nearest = ranges + (which = i);
                if (nearest && at - nearest->begin < 1u << 30)
                    fail("%s %zu bytes outside of all arrays, %zu after the beginning of argument %u, which has %zu",
                         what, size, (size_t)(at - nearest->begin), which - 1, (size_t)(nearest->end - nearest->begin));
                fail("%s %zu bytes outside of all arrays, and far from them", what, size);
            }
            last_range = i;
        }
    } else {
        const size_t first = at - (uintptr_t)me->block->shared;
        if (!declared[first] || !declared[first + size - 1])
            fail("%s %zu bytes of shared memory outside of all arrays", what, size);
    }
    if (size <= 8 && at % size) fail("%s %zu bytes at an address that is not a multiple of it", what, size);
}
static void touch(const void *address, size_t size, bool writes) {
    if (!me) return;
    check(address, size, writes);
    maybe_yield(preempt);
}

// The memory of one declaration in the block of this thread; `place` is zero until the first use of it.
void *shared(size_t *place, size_t size) {
    if (*place == 0) {
        *place = (shared_used / 128 + 1) * 128;  // so that two are never side by side
        if (*place + size > SHARED) fail("more shared memory than %u bytes", SHARED);
        shared_used = *place + size;
        std::memset(declared + *place, 1, size);
    }
    return me->block->shared + *place;
}
static void entry() {
    for (;;) {
        body(arguments);
        me->waits = ENDED;
        Block *block = me->block;
        block->alive--;
        if (block->alive && block->arrived == block->alive) open_barrier(block);
        leave();
    }
}
static void prepare(Block *block, unsigned index) {
    block->index = index;
    block->alive = threads_of_block;
    block->arrived = 0;
    std::memset(block->shared, 1 + below(255), SHARED + dynamic_bytes);
    for (unsigned i = 0; i < threads_of_block; i++) {
        Fiber &fiber = block->fibers[i];
        fiber.block = block;
        fiber.thread = i;
        fiber.in_ready = false;
        make_ready(&fiber);
    }
}
static void make_memory() {
    if (blocks) return;
    const auto memory = [](size_t size) {
        void *made = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (made == MAP_FAILED) std::abort();
        return (char *)made;
    };
    blocks = (Block *)memory(MOST_BLOCKS * sizeof(Block));
    for (unsigned b = 0; b < MOST_BLOCKS; b++) {
        blocks[b].shared = memory(2 * SHARED);
        char *stacks = memory(MOST_THREADS * STACK);
        for (unsigned i = 0; i < MOST_THREADS; i++) blocks[b].fibers[i].stack = stacks + i * STACK;
    }
}
static void describe_deadlock(unsigned resident) {
    for (unsigned b = 0; b < resident; b++)
        for (unsigned i = 0; i < threads_of_block; i++) {
            me = &blocks[b].fibers[i];
            if (me->waits == ENDED) continue;
            if (me->waits == SYNC_THREADS) {
                unsigned other = 0;
                while (blocks[b].fibers[other].waits == SYNC_THREADS || blocks[b].fibers[other].waits == ENDED) other++;
                fail("waits at __syncthreads for ever, for thread %u, which waits at %s", other,
                     names[blocks[b].fibers[other].waits]);
            }
            fail("waits at %s with the mask %08x for ever", names[me->waits], me->mask);
        }
}
static const char *run(unsigned grid, unsigned threads, uint64_t seed, unsigned at_once, unsigned preemptive) {
    make_memory();
    message[0] = 0;
    state = seed * 0x9e3779b97f4a7c15ULL | 1;
    for (int i = 0; i < 8; i++) draw();
    threads_of_block = threads;
    blocks_of_grid = grid;
    // Often in some launches, so that threads meet between a look and a write; seldom in others: some run ahead.
    static const unsigned rates[] = {3, 24, 200};
    preempt = preemptive ? rates[below(3)] : 0;
    last_range = num_ready = 0;
    static unsigned order[1 << 16];
    static volatile unsigned next, resident;
    static unsigned turns_taken;
    for (unsigned i = 0; i < grid; i++) {
        const unsigned other = below(i + 1);
        order[i] = order[other];
        order[other] = i;
    }
    next = turns_taken = 0;
    me = nullptr;
    const int why = _setjmp(scheduler);
    if (why == 2) {  // stacks of threads are left as they are
        for (unsigned b = 0; b < MOST_BLOCKS; b++)
            for (Fiber &fiber : blocks[b].fibers) fiber.made = false;
        me = nullptr;
        return message;
    }
    for (;;) {
        if (num_ready == 0) {
            if (next) {
                for (unsigned b = 0; b < resident; b++)
                    if (blocks[b].alive) describe_deadlock(resident);
            }
            if (next == grid) break;
            const unsigned left = grid - next, count = left < at_once ? left : at_once;
            resident = count;
            for (unsigned b = 0; b < count; b++) prepare(blocks + b, order[next + b]);
            next = next + count;
        }
        const unsigned place = below(num_ready);
        me = ready[place];
        if (++turns_taken > MOST_TURNS) fail("does not end");
        ready[place] = ready[--num_ready];
        me->in_ready = false;
        if (me->waits == ACTIVE_MASK) activate(me);
        else if (me->waits != READY) continue;
        if (!me->made) {
            me->made = true;
            getcontext(&me->first);
            me->first.uc_stack.ss_sp = me->stack;
            me->first.uc_stack.ss_size = STACK;
            me->first.uc_link = nullptr;
            makecontext(&me->first, entry, 0);
            setcontext(&me->first);
        }
        _longjmp(me->at, 1);
    }
    me = nullptr;
    return nullptr;
}

// The memory of this library's variables and constants.
static int find_file(dl_phdr_info *info, size_t, void *) {
    Range found = {~(uintptr_t)0, 0};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
        const uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, end = begin + info->dlpi_phdr[i].p_memsz;
        found = {begin < found.begin ? begin : found.begin, end > found.end ? end : found.end};
    }
    if ((uintptr_t)&ranges < found.begin || (uintptr_t)&ranges >= found.end) return 0;
    ranges[0] = found;
    return 1;
}
const char *launch(const char *name, void (*call)(void **), unsigned grid, unsigned teams, unsigned threads,
                   unsigned shared, uint64_t seed, unsigned at_once, unsigned preemptive, void **addresses,
                   unsigned count, const uint64_t *begins, const uint64_t *ends) {
    kernel = name;
    body = call;
    arguments = addresses;
    dynamic_bytes = shared;
    teams_of_grid = teams;
    if (!ranges[0].end) dl_iterate_phdr(find_file, nullptr);
    for (unsigned i = 0; i < count; i++) ranges[i + 1] = {(uintptr_t)begins[i], (uintptr_t)ends[i]};
    num_ranges = count + 1;
    return run(grid, threads, seed, at_once, preemptive);
}
}  // namespace emulator

// What the compiler calls for -fsanitize.
#define EMULATOR_ACCESS(bytes) \
    void __tsan_read##bytes(void *at) { emulator::touch(at, bytes, false); } \
    void __tsan_write##bytes(void *at) { emulator::touch(at, bytes, true); }
#define EMULATOR_UNALIGNED(bytes) \
    void __tsan_unaligned_read##bytes(void *at) { emulator::touch(at, bytes, false); } \
    void __tsan_unaligned_write##bytes(void *at) { emulator::touch(at, bytes, true); }
#define EMULATOR_UNDEFINED(what, text) \
    void __ubsan_handle_##what(void *data, void *, void *) { emulator::undefined(data, text); }
namespace emulator {
struct Location {
    const char *file;
    uint32_t line, column;
};
static void undefined(const void *data, const char *what) {
    const Location *at = (const Location *)data;
    fail("%s in %s, line %u", what, at->file, at->line);
}
}  // namespace emulator
extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit(void *) {}
EMULATOR_ACCESS(1)
EMULATOR_ACCESS(2)
EMULATOR_ACCESS(4)
EMULATOR_ACCESS(8)
EMULATOR_ACCESS(16)
EMULATOR_UNALIGNED(2)
EMULATOR_UNALIGNED(4)
EMULATOR_UNALIGNED(8)
EMULATOR_UNALIGNED(16)
void __tsan_read_range(void *at, size_t size) { emulator::touch(at, size, false); }
void __tsan_write_range(void *at, size_t size) { emulator::touch(at, size, true); }
EMULATOR_UNDEFINED(add_overflow, "a sum overflows")
EMULATOR_UNDEFINED(sub_overflow, "a difference overflows")
EMULATOR_UNDEFINED(mul_overflow, "a product overflows")
EMULATOR_UNDEFINED(negate_overflow, "a negation overflows")
EMULATOR_UNDEFINED(divrem_overflow, "a division by zero, or one that overflows,")
EMULATOR_UNDEFINED(shift_out_of_bounds, "a shift by too many bits, or of a negative number,")
EMULATOR_UNDEFINED(out_of_bounds, "an index is outside of its array")
}
