package org.brickprofiler.device.opencl;

import com.sun.jna.Pointer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * A layer over a driver: counts the calls of each function, can let one of them fail, and can give markers the time of
 * their entry, as some drivers do. Any thread.
 */
final class FaultyOpenCl {

    private static final int COMMAND_QUEUED = 0x1280;

    private final OpenCl driver;
    private final Map<String, AtomicInteger> calls = new ConcurrentHashMap<>();
    private final Set<Long> earlyEvents = ConcurrentHashMap.newKeySet();

    private volatile String failing = "";
    private volatile int nth;
    private volatile int last;
    private volatile int code;

    /** Which functions' commands are stamped on entry, of fills the small ones. */
    volatile Set<String> stampedOnEntry = Set.of();

    /** How long the host is held up before each of these functions. */
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
                        return failure(method.getReturnType());
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

    /** From now on, fails the n-th call of a function, and some after it. */
    void fail(String function, int from, int count, int with) {
        failing = "";
        calls.remove(function);
        nth = from;
        last = from + count - 1;
        code = with;
        failing = function;
    }

    int calls(String function) {
        AtomicInteger count = calls.get(function);
        return count == null ? 0 : count.get();
    }
}
