package org.brickprofiler.device.opencl;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.brickprofiler.device.polling.Polling;

/**
 * Finds out which kind of mark a device times correctly: two marks around a command, in a queue of its own, must
 * enclose the command's START and END. A driver that stamps markers when they enter the queue ends the second one
 * before the command has ended. Each device is probed once. Any thread; concurrent probes of a device have one result.
 */
final class MarkProbe {

    private static final int ROUNDS = 3;

    /** The number of bytes that the command fills: enough for a mark to enter the queue while the command runs. */
    private static final long FILLED_BYTES = 8 << 20;

    private static final long TIMEOUT_NS = 10_000_000_000L;

    // The memory of a round: three events, then the end of the first mark, the start and the end of the command, the
    // end of the second mark.
    private static final int EVENT_BYTES = 8;
    private static final int EVENTS = 3;
    private static final int FIRST_END = 24;
    private static final int START = 32;
    private static final int END = 40;
    private static final int SECOND_END = 48;
    private static final int ROUND_BYTES = 56;

    private final OpenCl driver;
    private final Map<Long, MarkKind> found = new ConcurrentHashMap<>();

    MarkProbe(OpenCl driver) {
        this.driver = driver;
    }

    /**
     * Returns the kind of mark for a device.
     *
     * @param context a context of the device
     * @param failures receives the reason if there is none
     * @return the first kind that is timed correctly, or empty
     */
    Optional<MarkKind> kind(long context, long device, OpenClFailures failures) {
        MarkKind known = found.get(device);
        if (known != null) {
            return Optional.of(known);
        }
        NativeMemory memory = new NativeMemory(ROUNDS * ROUND_BYTES + EVENT_BYTES);
        int out = ROUNDS * ROUND_BYTES;
        long queue = driver.clCreateCommandQueue(context, device, OpenCl.PROFILING, memory.address(out));
        if (queue == 0) {
            failures.report("clCreateCommandQueue", memory.getInt(out));
            return Optional.empty();
        }
        try {
            long buffer = driver.clCreateBuffer(context, 1, FILLED_BYTES, 0, memory.address(out));
            if (buffer == 0) {
                failures.report("clCreateBuffer", memory.getInt(out));
                return Optional.empty();
            }
            try {
                for (MarkKind kind : MarkKind.values()) {
                    if (isRight(kind, context, queue, buffer, failures)) {
                        found.put(device, kind);
                        return Optional.of(kind);
                    }
                }
                failures.report(
                        "probe",
                        "neither markers nor fills of the device end after the commands before them: no brick can be"
                                + " timed (" + failures.latest().orElse("no function failed") + ")");
                return Optional.empty();
            } finally {
                driver.clReleaseMemObject(buffer);
            }
        } finally {
            driver.clReleaseCommandQueue(queue);
        }
    }

    private boolean isRight(MarkKind kind, long context, long queue, long buffer, OpenClFailures failures) {
        NativeMemory memory = new NativeMemory(ROUNDS * ROUND_BYTES + 2 * EVENT_BYTES);
        List<Long> events = new ArrayList<>();
        try {
            if (!enqueue(kind, context, queue, buffer, memory, events, failures)) {
                return false;
            }
            driver.clFlush(queue);
            NativeMemory status = new NativeMemory(Long.BYTES);
            long last = events.get(events.size() - 1);
            Polling.Answer answer = Polling.SYSTEM.await(any -> isComplete(last, status), 0, TIMEOUT_NS);
            return answer == Polling.Answer.REACHED && encloses(memory);
        } finally {
            events.forEach(driver::clReleaseEvent);
        }
    }

    /**
     * Enqueues all rounds behind a gate, then opens the gate. Without it, a host that is delayed between two calls
     * would enqueue the second mark after the end of the command, and even a mark that is stamped on entry would seem
     * correct.
     */
    private boolean enqueue(
            MarkKind kind,
            long context,
            long queue,
            long buffer,
            NativeMemory memory,
            List<Long> events,
            OpenClFailures failures) {
        int out = ROUNDS * ROUND_BYTES;
        long gate = driver.clCreateUserEvent(context, memory.address(out));
        if (gate == 0) {
            failures.report("clCreateUserEvent", memory.getInt(out));
            return false;
        }
        events.add(gate);
        try {
            memory.putLong(out, gate);
            int code = driver.clEnqueueMarkerWithWaitList(
                    queue, 1, memory.address(out), memory.address(out + EVENT_BYTES));
            if (code != OpenCl.SUCCESS) {
                failures.report("clEnqueueMarkerWithWaitList", code);
                return false;
            }
            events.add(memory.getLong(out + EVENT_BYTES));
            for (int at = 0; at < ROUNDS * ROUND_BYTES && code == OpenCl.SUCCESS; at += ROUND_BYTES) {
                code = enqueueRound(kind, queue, buffer, memory, at);
                for (int event = 0; event < EVENTS; event++) {
                    long handle = memory.getLong(at + event * EVENT_BYTES);
                    if (handle != 0) {
                        events.add(handle);
                    }
                }
            }
            if (code != OpenCl.SUCCESS) {
                failures.report(kind.function(), code);
            }
            return code == OpenCl.SUCCESS;
        } finally {
            int code = driver.clSetUserEventStatus(gate, OpenCl.COMPLETE);
            if (code != OpenCl.SUCCESS) {
                failures.report("clSetUserEventStatus", code);
            }
        }
    }

    /** Enqueues a mark, the command, and a mark. */
    private int enqueueRound(MarkKind kind, long queue, long buffer, NativeMemory memory, int at) {
        long pattern = memory.address(ROUNDS * ROUND_BYTES);
        int code = kind.enqueue(driver, queue, buffer, pattern, memory.address(at));
        if (code == OpenCl.SUCCESS) {
            long event = memory.address(at + EVENT_BYTES);
            code = driver.clEnqueueFillBuffer(queue, buffer, pattern, MarkKind.BYTES, 0, FILLED_BYTES, 0, 0, event);
        }
        return code == OpenCl.SUCCESS
                ? kind.enqueue(driver, queue, buffer, pattern, memory.address(at + 2 * EVENT_BYTES))
                : code;
    }

    private Polling.Answer isComplete(long event, NativeMemory status) {
        int code = driver.clGetEventInfo(event, OpenCl.EVENT_STATUS, Integer.BYTES, status.address(0), 0);
        if (code != OpenCl.SUCCESS || status.getInt(0) < 0) {
            return Polling.Answer.REFUSED;
        }
        return status.getInt(0) == OpenCl.COMPLETE ? Polling.Answer.REACHED : Polling.Answer.NOT_YET;
    }

    /** Returns whether the order is right in all rounds; in a single round it may be chance. */
    private boolean encloses(NativeMemory memory) {
        boolean all = true;
        for (int at = 0; at < ROUNDS * ROUND_BYTES; at += ROUND_BYTES) {
            all &= ask(memory, at, 0, OpenCl.COMMAND_END, FIRST_END)
                    && ask(memory, at, 1, OpenCl.COMMAND_START, START)
                    && ask(memory, at, 1, OpenCl.COMMAND_END, END)
                    && ask(memory, at, 2, OpenCl.COMMAND_END, SECOND_END)
                    && memory.getLong(at + FIRST_END) != 0
                    && memory.getLong(at + FIRST_END) <= memory.getLong(at + START)
                    && memory.getLong(at + START) <= memory.getLong(at + END)
                    && memory.getLong(at + END) <= memory.getLong(at + SECOND_END);
        }
        return all;
    }

    private boolean ask(NativeMemory memory, int at, int event, int what, int into) {
        long handle = memory.getLong(at + event * EVENT_BYTES);
        return driver.clGetEventProfilingInfo(handle, what, Long.BYTES, memory.address(at + into), 0) == OpenCl.SUCCESS;
    }
}
