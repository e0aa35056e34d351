package org.brickprofiler.gpucheck;

import com.sun.jna.Callback;
import com.sun.jna.CallbackThreadInitializer;
import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * CUPTI, NVIDIA's library of activity records, as far as the check of its cost needs it: records of kernels, and ids of
 * the application for their launches. One in a process, since CUPTI has one user a process. One thread, apart from the
 * buffers that CUPTI requests and returns on any thread.
 *
 * <p>CUPTI requests buffers within the calls that launch kernels. The requests are methods of Java here, which is safe
 * only because JCuda launches by JNI: within a critical downcall they would end the virtual machine.
 */
final class Cupti implements AutoCloseable {

    /** The records of kernels, which may run at the same time. */
    static final int KERNELS = 10;

    /** The ids of launches. They come only together with records of the driver's calls. */
    static final int IDS = 39;

    /** The records of the driver's calls. */
    static final int DRIVER_CALLS = 4;

    private static final int LAUNCH_KERNEL = 307;
    private static final int LAUNCH_GRAPH = 514;

    private static final int SUCCESS = 0;
    private static final int ANOTHER_USER = 39;

    /** The kind of id of this check; other tools use other kinds. */
    private static final int ID_KIND = 5;

    /** CUDA 11.1: from then on, each field that is read here is where it is now. */
    private static final int OLDEST_API = 14;

    private static final int BUFFER_BYTES = 4 << 20;

    private static final Pattern FILE_NAME = Pattern.compile("libcupti\\.so\\.(\\d{1,2})(?:\\.\\d+)*");

    // The fields of a record of a kernel.
    private static final long START = 16;
    private static final long END = 24;
    private static final long CORRELATION = 92;
    private static final long NAME = 104;
    private static final long GRAPH = 156;

    // The fields of a record of an id.
    private static final long ID = 8;
    private static final long CORRELATION_OF_ID = 16;

    /** CUPTI, and callbacks that it calls until the process ends: JNA holds both weakly. */
    private static final List<Object> KEPT = new ArrayList<>();

    private final NativeLibrary library;
    private final String origin;
    private final Queue<Memory> free = new ConcurrentLinkedQueue<>();
    private final Queue<Full> full = new ConcurrentLinkedQueue<>();
    private final Map<Long, Memory> handedOut = new ConcurrentHashMap<>();

    /** The names of kernels by their addresses, which CUPTI keeps. */
    private final Map<Long, String> names = new HashMap<>();

    private final AtomicInteger buffers = new AtomicInteger();
    private final Memory lastId = new Memory(Long.BYTES);
    private @Nullable Pointer subscriber;
    private boolean hasIds;

    /** A buffer that CUPTI has returned. */
    private record Full(long address, long validBytes) {}

    /** Asks for a buffer. */
    @SuppressWarnings("UnusedMethod") // native code calls it
    private interface Requested extends Callback {
        void invoke(Pointer buffer, Pointer size, Pointer mostRecords);
    }

    /** Returns a buffer. */
    @SuppressWarnings("UnusedMethod") // native code calls it
    private interface Completed extends Callback {
        void invoke(@Nullable Pointer context, int stream, Pointer buffer, long size, long validBytes);
    }

    /** Reports a call of the driver; never called, since no kind of calls is enabled. */
    @SuppressWarnings("UnusedMethod") // native code calls it
    private interface Called extends Callback {
        void invoke(@Nullable Pointer data, int domain, int call, @Nullable Pointer parameters);
    }

    /** The calls that are timed, by JNA's direct mapping. */
    private static final class Direct {
        static native int cuptiActivityPushExternalCorrelationId(int kind, long id);

        static native int cuptiActivityPopExternalCorrelationId(int kind, long lastId);

        private Direct() {}
    }

    /**
     * A record of a kernel.
     *
     * @param startNs its start by CUPTI's clock, ns
     * @param endNs its end
     * @param correlation the number of the call that launched it
     * @param name its name, as the module has it
     * @param isOfGraph whether a graph launched it
     */
    record Kernel(long startNs, long endNs, int correlation, String name, boolean isOfGraph) {
        long durationNs() {
            return endNs - startNs;
        }

        /** Returns whether the times cannot be true. */
        boolean isImpossible() {
            return startNs <= 0 || endNs <= startNs;
        }
    }

    /**
     * The records of a stretch of time.
     *
     * @param kernels the kernels in the order of their starts
     * @param ids the ids of launches by their correlation
     * @param dropped the number of records that CUPTI had no room for
     */
    record Records(List<Kernel> kernels, Map<Integer, Long> ids, long dropped) {
        long withId() {
            return kernels.stream()
                    .filter(kernel -> ids.containsKey(kernel.correlation()))
                    .count();
        }
    }

    private Cupti(NativeLibrary library, String origin) {
        this.library = library;
        this.origin = origin;
    }

    // ---- the library ----

    /**
     * Loads the newest library that a driver supports.
     *
     * @param given the file to load; null to search for one
     * @param driverMajor the major version of CUDA that the driver supports; 0 if it is not known
     * @throws IllegalStateException when there is none; the message has the reason
     */
    static Cupti load(@Nullable Path given, int driverMajor) {
        List<String> reasons = new ArrayList<>();
        for (String name : given == null
                ? names(driverMajor)
                : List.of(given.toAbsolutePath().toString())) {
            try {
                NativeLibrary library = NativeLibrary.getInstance(name);
                Native.register(Direct.class, library);
                KEPT.add(library);
                return new Cupti(
                        library,
                        library.getFile() == null ? name : library.getFile().toString());
            } catch (UnsatisfiedLinkError absent) {
                reasons.add(name);
            }
        }
        throw new IllegalStateException(
                "no library of CUPTI could be loaded" + (given == null ? "" : " from " + given) + "; tried "
                        + (reasons.size() > 4
                                ? reasons.size() + " names, the first " + reasons.get(0)
                                : String.join(", ", reasons)));
    }

    /** Returns the names to try, the newest version first, and for a version first the files that were found. */
    private static List<String> names(int driverMajor) {
        Map<Integer, List<String>> byMajor = new TreeMap<>(Comparator.reverseOrder());
        for (Path folder : folders()) {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "libcupti.so.*")) {
                for (Path file : files) {
                    Matcher version = FILE_NAME.matcher(String.valueOf(file.getFileName()));
                    if (version.matches()) {
                        add(byMajor, Integer.parseInt(version.group(1)), file.toString());
                    }
                }
            } catch (IOException unreadable) {
                // Not a place of the library.
            }
        }
        for (int major = 11; major <= 15; major++) {
            add(byMajor, major, "libcupti.so." + major + (major == 11 ? ".8" : ""));
        }
        return byMajor.entrySet().stream()
                .filter(version -> driverMajor == 0 || version.getKey() <= driverMajor)
                .flatMap(version -> version.getValue().stream())
                .toList();
    }

    private static void add(Map<Integer, List<String>> byMajor, int major, String name) {
        byMajor.computeIfAbsent(major, key -> new ArrayList<>()).add(name);
    }

    /** Returns the folders of CUDA's toolkit, of Debian's packages and of Python's wheels that exist. */
    private static List<Path> folders() {
        List<Path> folders = new ArrayList<>();
        for (String toolkit : List.of(variable("CUDA_HOME"), variable("CUDA_PATH"), "/usr/local/cuda")) {
            folders.addAll(matching(toolkit, "extras", "CUPTI", "lib64"));
            folders.addAll(matching(toolkit, "targets", "*", "lib"));
            folders.addAll(matching(toolkit, "{lib,lib64}"));
        }
        folders.addAll(matching("/usr/lib", "*-linux-gnu"));
        for (String root : List.of(
                variable("VIRTUAL_ENV"),
                variable("CONDA_PREFIX"),
                variable("HOME") + "/.local",
                "/usr/local",
                "/usr")) {
            folders.addAll(matching(
                    root, "lib", "python3*", "{site,dist}-packages", "nvidia", "{cuda_cupti,cu[0-9][0-9]}", "lib"));
        }
        return folders;
    }

    private static String variable(String name) {
        String value = System.getenv(name);
        return value == null ? "" : value;
    }

    /** Returns the folders below a root that match a pattern for each level; none if the root is empty. */
    private static List<Path> matching(String root, String... levels) {
        List<Path> found = root.isEmpty() ? List.of() : List.of(Path.of(root));
        for (String level : levels) {
            List<Path> below = new ArrayList<>();
            for (Path folder : found) {
                try (DirectoryStream<Path> children = Files.newDirectoryStream(folder, level)) {
                    children.forEach(below::add);
                } catch (IOException unreadable) {
                    // Nothing of it can be loaded.
                }
            }
            found = below;
        }
        return found;
    }

    /**
     * Returns the version of the library's interface.
     *
     * @return for example 18 for CUDA 11.8, and 130001 for 13.0
     * @throws IllegalStateException when the library does not know it, as without a driver, or is too old
     */
    int version() {
        Memory version = new Memory(Integer.BYTES);
        require("cuptiGetVersion", call("cuptiGetVersion", version));
        int number = version.getInt(0);
        if (number < OLDEST_API) {
            throw new IllegalStateException(origin + " has version " + number + " of CUPTI, and this check needs "
                    + OLDEST_API + " (CUDA 11.1)");
        }
        return number;
    }

    @Override
    public String toString() {
        return origin;
    }

    private int call(String name, Object... parameters) {
        return library.getFunction(name).invokeInt(parameters);
    }

    private void require(String name, int code) {
        if (code == SUCCESS) {
            return;
        }
        String reason = "";
        Memory text = new Memory(Native.POINTER_SIZE);
        if (call("cuptiGetResultString", code, text) == SUCCESS) {
            reason = " " + text.getPointer(0).getString(0);
        }
        throw new IllegalStateException(origin + ": " + name + " answers " + code + reason
                + (code == ANOTHER_USER ? ": another tool uses CUPTI in this process" : ""));
    }

    // ---- recording ----

    /**
     * Becomes the user of CUPTI in this process. Records begin with {@link #recordKernels}.
     *
     * @throws IllegalStateException when CUPTI refuses; the message has the reason
     */
    void start() {
        Called called = (data, domain, number, parameters) -> {};
        Requested requested = (buffer, size, mostRecords) -> {
            Memory next = free.poll();
            if (next == null) {
                next = new Memory(BUFFER_BYTES);
                next.clear();
                buffers.incrementAndGet();
            }
            handedOut.put(Pointer.nativeValue(next), next);
            buffer.setPointer(0, next);
            size.setLong(0, BUFFER_BYTES);
            mostRecords.setLong(0, 0);
        };
        Completed completed = (context, stream, buffer, size, validBytes) ->
                full.add(new Full(Pointer.nativeValue(buffer), validBytes));
        for (Callback callback : List.of(called, requested, completed)) {
            Native.setCallbackThreadInitializer(callback, new CallbackThreadInitializer(true, false, "cupti"));
            KEPT.add(callback);
        }
        Memory handle = new Memory(Native.POINTER_SIZE);
        require("cuptiSubscribe", call("cuptiSubscribe", handle, called, Pointer.NULL));
        subscriber = handle.getPointer(0);
        require("cuptiActivityRegisterCallbacks", call("cuptiActivityRegisterCallbacks", requested, completed));
    }

    /** Begins to record the kernels. */
    void recordKernels() {
        require("cuptiActivityEnable", call("cuptiActivityEnable", KERNELS));
    }

    /** Begins to record the ids of launches, with the fewest calls of the driver that the library permits. */
    void recordIds() {
        require("cuptiActivityEnable", call("cuptiActivityEnable", IDS));
        enableCalls(true);
        hasIds = true;
    }

    /** Ends all records; those so far stay. */
    void stopRecords() {
        require("cuptiActivityDisable", call("cuptiActivityDisable", KERNELS));
        if (hasIds) {
            hasIds = false;
            require("cuptiActivityDisable", call("cuptiActivityDisable", IDS));
            enableCalls(false);
        }
    }

    private void enableCalls(boolean on) {
        Function single = functionOrNull("cuptiActivityEnableDriverApi");
        if (single == null) {
            String name = on ? "cuptiActivityEnable" : "cuptiActivityDisable";
            require(name, call(name, DRIVER_CALLS));
        } else {
            for (int launch : new int[] {LAUNCH_KERNEL, LAUNCH_GRAPH}) {
                require("cuptiActivityEnableDriverApi", single.invokeInt(new Object[] {launch, (byte) (on ? 1 : 0)}));
            }
        }
    }

    private @Nullable Function functionOrNull(String name) {
        try {
            return library.getFunction(name);
        } catch (UnsatisfiedLinkError older) {
            return null;
        }
    }

    /** Gives the launches of the calling thread an id from now on, in place of the one before. */
    void mark(long id) {
        long last = Pointer.nativeValue(lastId);
        Direct.cuptiActivityPopExternalCorrelationId(ID_KIND, last);
        Direct.cuptiActivityPushExternalCorrelationId(ID_KIND, id);
    }

    /** Takes the id from the launches of the calling thread. */
    void unmark() {
        Direct.cuptiActivityPopExternalCorrelationId(ID_KIND, Pointer.nativeValue(lastId));
    }

    /**
     * Makes CUPTI return the buffers all of whose kernels have ended. Does not wait for the device.
     *
     * @param forced whether to return the others, too: their running kernels are lost
     */
    void flush(boolean forced) {
        require("cuptiActivityFlushAll", call("cuptiActivityFlushAll", forced ? 1 : 0));
    }

    /** Returns the current time of CUPTI's clock, ns. */
    long nowNs() {
        Memory now = new Memory(Long.BYTES);
        require("cuptiGetTimestamp", call("cuptiGetTimestamp", now));
        return now.getLong(0);
    }

    /** Returns the number of buffers that CUPTI has needed at a time. */
    int buffers() {
        return buffers.get();
    }

    /**
     * Takes the records of the buffers that CUPTI has returned.
     *
     * @throws IllegalStateException when a buffer cannot be read
     */
    Records take() {
        List<Kernel> kernels = new ArrayList<>();
        Map<Integer, Long> ids = new TreeMap<>();
        for (Full next = full.poll(); next != null; next = full.poll()) {
            Memory buffer = handedOut.remove(next.address);
            if (buffer == null) {
                throw new IllegalStateException(origin + " returned a buffer that it did not get");
            }
            read(buffer, next.validBytes, kernels, ids);
            buffer.clear();
            free.add(buffer);
        }
        kernels.sort(Comparator.comparingLong(Kernel::startNs));
        Memory dropped = new Memory(Long.BYTES);
        dropped.clear();
        require(
                "cuptiActivityGetNumDroppedRecords",
                call("cuptiActivityGetNumDroppedRecords", Pointer.NULL, 0, dropped));
        return new Records(kernels, ids, dropped.getLong(0));
    }

    /** Reads a buffer. CUPTI finds the next record, whose size depends on its version. */
    private void read(Memory buffer, long validBytes, List<Kernel> kernels, Map<Integer, Long> ids) {
        Memory record = new Memory(Native.POINTER_SIZE);
        record.clear();
        Function next = library.getFunction("cuptiActivityGetNextRecord");
        while (next.invokeInt(new Object[] {buffer, validBytes, record}) == SUCCESS) {
            Pointer at = record.getPointer(0);
            int kind = at.getInt(0);
            if (kind == KERNELS) {
                kernels.add(new Kernel(
                        at.getLong(START),
                        at.getLong(END),
                        at.getInt(CORRELATION),
                        names.computeIfAbsent(
                                at.getLong(NAME), name -> name == 0 ? "" : new Pointer(name).getString(0)),
                        at.getInt(GRAPH) != 0));
            } else if (kind == IDS) {
                ids.put(at.getInt(CORRELATION_OF_ID), at.getLong(ID));
            }
        }
    }

    /** Ends all records. The library stays loaded: CUPTI's own end has been the cause of crashes. */
    @Override
    public void close() {
        Pointer user = subscriber;
        if (user != null) {
            subscriber = null;
            call("cuptiActivityDisable", KERNELS);
            call("cuptiActivityFlushAll", 1);
            call("cuptiUnsubscribe", user);
        }
    }
}
