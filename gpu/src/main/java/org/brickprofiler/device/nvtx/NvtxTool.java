package org.brickprofiler.device.nvtx;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.jna.Callback;
import com.sun.jna.CallbackReference;
import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * The functions of a tool that listens to NVTX. A tool names its library by an environment variable of the process.
 * This class loads the library and passes it a function that returns tables; the tool writes its functions into them. A
 * function that the tool does not want stays null.
 *
 * <p>A process has at most one tool, for its whole life: memory that the tool has seen is never freed. Any thread.
 */
final class NvtxTool {

    /** Names the library of the tool. */
    static final String VARIABLE = "NVTX_INJECTION64_PATH";

    private static final String ENTRY = "InitializeInjectionNvtx2";

    private static final int NVTX_VERSION = 3;

    // The tables that a tool may ask for.
    private static final int TABLE_OF_CALLBACKS = 1;
    private static final int TABLE_OF_VERSION = 3;

    /** The number of functions of each module of NVTX, the unused number 0 included; a module's number is its index. */
    private static final int[] MODULE_SIZES = {0, 16, 9, 15, 7, 16, 7};

    // Functions of the module of domains.
    private static final int DOMAINS = 5;
    private static final int RANGE_PUSH = 4;
    private static final int RANGE_POP = 5;
    private static final int REGISTER_STRING = 10;
    private static final int CREATE_DOMAIN = 12;

    // The attributes of a range.
    private static final int ATTRIBUTES_SIZE = 48;
    private static final int MESSAGE_TYPE = 32;
    private static final int MESSAGE = 40;
    private static final int MESSAGE_IS_TEXT = 1;
    private static final int MESSAGE_IS_REGISTERED = 3;

    private static final int POINTER = Long.BYTES;

    /**
     * The library of the tool, and memory and callbacks that the tool may use until the process ends. JNA unloads a
     * library that is no longer referenced.
     */
    private static final List<Object> KEPT = new CopyOnWriteArrayList<>();

    private final long push;
    private final long pop;
    private final long pushSignature;
    private final long popSignature;
    private final @Nullable Function registerString;
    private final @Nullable Function createDomain;

    /** Returns a table by its number. */
    @SuppressWarnings("UnusedMethod") // native code calls it
    private interface ExportTable extends Callback {
        @Nullable
        Pointer invoke(int table);
    }

    /** Writes the address of the table of a module, and its size. */
    @SuppressWarnings("UnusedMethod") // native code calls it
    private interface FunctionTable extends Callback {
        int invoke(int module, @Nullable Pointer table, @Nullable Pointer size);
    }

    /** Receives the version of the tool. */
    @SuppressWarnings("UnusedMethod") // native code calls it
    private interface ToolVersion extends Callback {
        void invoke(int version);
    }

    private NvtxTool(Pointer domains) {
        push = functionOf(domains, RANGE_PUSH);
        pop = functionOf(domains, RANGE_POP);
        registerString = function(functionOf(domains, REGISTER_STRING));
        createDomain = function(functionOf(domains, CREATE_DOMAIN));
        pushSignature = signature(2);
        popSignature = signature(1);
    }

    /**
     * Attaches the tool of this process.
     *
     * @return the tool; null if the variable is not set
     * @throws IllegalStateException when the tool cannot be used; the message has the reason
     * @throws LinkageError when JNA cannot be used
     */
    static @Nullable NvtxTool attach() {
        String path = System.getenv(VARIABLE);
        return path == null || path.isBlank() ? null : attach(path);
    }

    /**
     * Attaches the tool of a library.
     *
     * @param path the file of the library
     */
    static NvtxTool attach(String path) {
        String origin = VARIABLE + "=" + path;
        if (Native.POINTER_SIZE != POINTER) {
            throw new IllegalStateException(origin + ": needs a 64-bit virtual machine");
        }
        Function entry;
        try {
            NativeLibrary library = NativeLibrary.getInstance(path);
            entry = library.getFunction(ENTRY);
            KEPT.add(library);
        } catch (UnsatisfiedLinkError missing) {
            // The message is a headline, and a line for each place that was searched; or one line.
            List<String> lines = String.valueOf(missing.getMessage()).lines().toList();
            throw new IllegalStateException(origin + ": " + lines.get(Math.min(1, lines.size() - 1)), missing);
        }
        Tables tables = new Tables();
        if (entry.invokeInt(new Object[] {tables.export}) == 0) {
            throw new IllegalStateException(origin + ": " + ENTRY + " of the tool returned 0");
        }
        NvtxTool tool = new NvtxTool(tables.functions(DOMAINS));
        if (tool.push == 0 || tool.pop == 0) {
            throw new IllegalStateException(origin + ": the tool does not want ranges of domains");
        }
        return tool;
    }

    /** The tables that the tool fills. */
    private static final class Tables {
        /** For each module, its functions, and then the table with the address of each. */
        private final Memory[] modules = new Memory[MODULE_SIZES.length];

        final ExportTable export;

        Tables() {
            for (int module = 0; module < modules.length; module++) {
                modules[module] = table(MODULE_SIZES[module]);
            }
            FunctionTable ofModule = this::functionTable;
            Memory callbacks = zeroed(2 * POINTER);
            callbacks.setLong(0, callbacks.size());
            callbacks.setPointer(POINTER, CallbackReference.getFunctionPointer(ofModule));
            ToolVersion ignored = version -> {};
            Memory version = zeroed(3 * POINTER);
            version.setLong(0, version.size());
            version.setInt(POINTER, NVTX_VERSION);
            version.setPointer(2 * POINTER, CallbackReference.getFunctionPointer(ignored));
            export = table -> table == TABLE_OF_CALLBACKS ? callbacks : table == TABLE_OF_VERSION ? version : null;
            KEPT.addAll(List.of(ofModule, ignored, export));
        }

        private static Memory table(int size) {
            // A null entry ends the table.
            Memory module = zeroed((2 * size + 1) * POINTER);
            for (int function = 1; function < size; function++) {
                module.setPointer((long) (size + function) * POINTER, module.share((long) function * POINTER));
            }
            return module;
        }

        private int functionTable(int module, @Nullable Pointer table, @Nullable Pointer size) {
            if (module <= 0 || module >= modules.length) {
                return 0;
            }
            if (table != null) {
                table.setPointer(0, modules[module].share((long) MODULE_SIZES[module] * POINTER));
            }
            if (size != null) {
                size.setInt(0, MODULE_SIZES[module]);
            }
            return 1;
        }

        Pointer functions(int module) {
            return modules[module];
        }
    }

    private static Memory zeroed(int bytes) {
        Memory memory = new Memory(Math.max(bytes, POINTER));
        memory.clear();
        KEPT.add(memory);
        return memory;
    }

    private static long functionOf(Pointer functions, int number) {
        return functions.getLong((long) number * POINTER);
    }

    private static @Nullable Function function(long address) {
        return address == 0 ? null : Function.getFunction(new Pointer(address));
    }

    /** Prepares calls of a function with pointers as parameters and an {@code int} as result, in libffi's terms. */
    private static long signature(int parameters) {
        Pointer pointer = type(POINTER, 14);
        Pointer number = type(Integer.BYTES, 10);
        Memory types = zeroed(parameters * POINTER);
        for (int i = 0; i < parameters; i++) {
            types.setPointer((long) i * POINTER, pointer);
        }
        return Native.ffi_prep_cif(0, parameters, Pointer.nativeValue(number), Pointer.nativeValue(types));
    }

    private static Pointer type(int bytes, int code) {
        Memory type = zeroed(3 * POINTER);
        type.setLong(0, bytes);
        type.setShort(POINTER, (short) bytes);
        type.setShort(POINTER + Short.BYTES, (short) code);
        return type;
    }

    /**
     * Creates a domain.
     *
     * @return the address of the tool's domain; 0, the domain without a name, if the tool knows no domains
     */
    long createDomain(String name) {
        return createDomain == null ? 0 : addressFrom(createDomain, text(name));
    }

    private static long addressFrom(Function function, Object... parameters) {
        return Pointer.nativeValue(function.invokePointer(parameters));
    }

    private static Memory text(String text) {
        byte[] bytes = text.getBytes(UTF_8);
        Memory memory = zeroed(bytes.length + 1);
        memory.write(0, bytes, 0, bytes.length);
        return memory;
    }

    /**
     * Prepares the parameters of {@link #push}: the name is registered, so that no call copies it.
     *
     * @param domain the address of the domain
     * @param name the name of the ranges
     * @return the address of the parameters, for the life of the process
     */
    long parametersOfPush(long domain, String name) {
        Memory text = text(name);
        Memory block = zeroed(ATTRIBUTES_SIZE + 4 * POINTER);
        block.setShort(0, (short) NVTX_VERSION);
        block.setShort(Short.BYTES, (short) ATTRIBUTES_SIZE);
        long registered = registerString == null ? 0 : addressFrom(registerString, new Pointer(domain), text);
        block.setInt(MESSAGE_TYPE, registered == 0 ? MESSAGE_IS_TEXT : MESSAGE_IS_REGISTERED);
        block.setLong(MESSAGE, registered == 0 ? Pointer.nativeValue(text) : registered);
        // The values of the two parameters, and their addresses.
        long values = ATTRIBUTES_SIZE;
        block.setLong(values, domain);
        block.setPointer(values + POINTER, block.share(0));
        block.setPointer(values + 2 * POINTER, block.share(values));
        block.setPointer(values + 3 * POINTER, block.share(values + POINTER));
        return Pointer.nativeValue(block) + values + 2 * POINTER;
    }

    /**
     * Prepares the parameters of {@link #pop}.
     *
     * @return the address of the parameters, for the life of the process
     */
    static long parametersOfPop(long domain) {
        Memory block = zeroed(2 * POINTER);
        block.setLong(0, domain);
        block.setPointer(POINTER, block.share(0));
        return Pointer.nativeValue(block) + POINTER;
    }

    /**
     * Returns the address of memory for the results of one thread's calls.
     *
     * @param memory keeps the memory; must stay reachable while the address is in use
     */
    static long addressOf(Memory memory) {
        return Pointer.nativeValue(memory);
    }

    /** Begins a range of the calling thread. Allocates nothing. */
    void push(long parameters, long result) {
        Native.ffi_call(pushSignature, push, result, parameters);
    }

    /** Ends the range of the calling thread that it began last in the domain. Allocates nothing. */
    void pop(long parameters, long result) {
        Native.ffi_call(popSignature, pop, result, parameters);
    }
}
