package org.brickprofiler.device.opencl;

import com.sun.jna.Pointer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A layer over a driver that counts the calls of each function. It can let calls or their commands fail, stamp markers
 * with the time at which they are enqueued, as some drivers do, and provide a clock of the device. Any thread.
 */
final class FaultyOpenCl {

    private static final int COMMAND_QUEUED = 0x1280;
    private static final int PROFILING_INFO_NOT_AVAILABLE = -7;

    private final OpenCl driver;
    private final Map<String, AtomicInteger> calls = new ConcurrentHashMap<>();
    private final Set<Long> earlyEvents = ConcurrentHashMap.newKeySet();

    /** The statuses of events whose commands fail. */
    private final Map<Long, Integer> failedEvents = new ConcurrentHashMap<>();

    /** Runs before a function's call goes to the driver. */
    volatile Consumer<String> before = function -> {};

    /** The status with which the commands of {@link #failCommand} end; 0 if the functions themselves fail. */
    private volatile int status;

    private volatile String failing = "";
    private volatile int nth;
    private volatile int last;
    private volatile int code;

    /** The functions whose commands are stamped on entry; of fills, only those of a mark's size. */
    volatile Set<String> stampedOnEntry = Set.of();

    /** The device's clock, which the driver reports together with the host's; null for a driver that cannot. */
    volatile @Nullable LongSupplier clock;

    /** The age of each pair of readings of both clocks, ns. */
    volatile long pairAgeNs;

    /** The delay of the host before each function of {@link #stampedOnEntry}, ns. */
    volatile long heldUpNs;

    FaultyOpenCl(OpenCl driver) {
        this.driver = driver;
    }

    OpenClSupport support() {
        return OpenClSupport.of((OpenCl) Proxy.newProxyInstance(
                OpenCl.class.getClassLoader(), new Class<?>[] {OpenCl.class}, (proxy, method, arguments) -> {
                    String name = method.getName();
                    int number = calls.computeIfAbsent(name, any -> new AtomicInteger())
                            .incrementAndGet();
                    if (name.equals(failing) && number >= nth && number <= last) {
                        if (status == 0) {
                            return failure(method.getReturnType());
                        }
                        Object answer = method.invoke(driver, arguments);
                        failedEvents.put(new Pointer((long) arguments[arguments.length - 1]).getLong(0), status);
                        return answer;
                    }
                    before.accept(name);
                    Integer failed = arguments == null ? null : failedEvents.get(arguments[0]);
                    if (failed != null && name.equals("clGetEventProfilingInfo")) {
                        return PROFILING_INFO_NOT_AVAILABLE;
                    }
                    if (failed != null && name.equals("clGetEventInfo")) {
                        Object answer = method.invoke(driver, arguments);
                        Pointer reported = new Pointer((long) arguments[3]);
                        if (reported.getInt(0) == OpenCl.COMPLETE) {
                            reported.setInt(0, failed);
                        }
                        return answer;
                    }
                    LongSupplier ticking = clock;
                    if (ticking != null && name.endsWith("HostTimer")) {
                        boolean isPair = name.equals("clGetDeviceAndHostTimer");
                        long ageNs = isPair ? pairAgeNs : 0;
                        if (isPair) {
                            new Pointer((long) arguments[1]).setLong(0, ticking.getAsLong() - ageNs);
                        }
                        new Pointer((long) arguments[arguments.length - 1]).setLong(0, System.nanoTime() - ageNs);
                        return OpenCl.SUCCESS;
                    }
                    if (stampedOnEntry.contains(name)) {
                        LockSupport.parkNanos(heldUpNs);
                    }
                    if (name.equals("clGetEventProfilingInfo") && earlyEvents.contains(arguments[0])) {
                        arguments[1] = COMMAND_QUEUED;
                    }
                    if (name.equals("clReleaseEvent")) {
                        // Its address may be that of another event soon.
                        earlyEvents.remove(arguments[0]);
                        failedEvents.remove(arguments[0]);
                    }
                    try {
                        Object answer = method.invoke(driver, arguments);
                        boolean isMark = !name.equals("clEnqueueFillBuffer") || (long) arguments[5] == MarkKind.BYTES;
                        if (isMark && stampedOnEntry.contains(name)) {
                            earlyEvents.add(new Pointer((long) arguments[arguments.length - 1]).getLong(0));
                        }
                        return answer;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }

    private Object failure(Class<?> type) {
        if (type == long.class) {
            return 0L;
        }
        return code;
    }

    /** From now on, lets {@code count} calls of a function fail with a code, beginning with the call {@code from}. */
    void fail(String function, int from, int count, int with) {
        failing = "";
        calls.remove(function);
        nth = from;
        last = from + count - 1;
        code = with;
        status = 0;
        failing = function;
    }

    /**
     * From now on, lets the commands of {@code count} calls of a function end with a status, beginning with the call
     * {@code from}.
     */
    void failCommand(String function, int from, int count, int with) {
        fail("", from, count, 0);
        calls.remove(function);
        status = with;
        failing = function;
    }

    int calls(String function) {
        AtomicInteger count = calls.get(function);
        return count == null ? 0 : count.get();
    }
}
