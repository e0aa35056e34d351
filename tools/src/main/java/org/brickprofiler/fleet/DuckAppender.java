package org.brickprofiler.fleet;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.sql.Connection;
import org.jspecify.annotations.Nullable;

/**
 * Adds rows to a table of DuckDB with DuckDB's own appender, some hundred times as fast as statements. The driver may
 * come from a separate class loader, so its methods are called by method handles. One thread.
 */
final class DuckAppender implements AutoCloseable {

    private final MethodHandle beginRow;
    private final MethodHandle endRow;
    private final MethodHandle ofLong;
    private final MethodHandle ofInt;
    private final MethodHandle ofDouble;
    private final MethodHandle ofText;
    private final MethodHandle ofInts;
    private final MethodHandle ofLongs;
    private final MethodHandle ofNull;
    private final MethodHandle close;

    /**
     * Opens an appender.
     *
     * @param connection a connection of DuckDB
     * @param table a table there
     * @throws IOException when the driver has no such appender, or the table does not exist
     */
    DuckAppender(Connection connection, String table) throws IOException {
        try {
            MethodHandles.Lookup all = MethodHandles.publicLookup();
            Object appender = connection
                    .getClass()
                    .getMethod("createAppender", String.class)
                    .invoke(connection, table);
            beginRow = method(all, appender, "beginRow");
            endRow = method(all, appender, "endRow");
            ofLong = method(all, appender, "append", long.class);
            ofInt = method(all, appender, "append", int.class);
            ofDouble = method(all, appender, "append", double.class);
            ofText = method(all, appender, "append", String.class);
            ofInts = method(all, appender, "append", int[].class);
            ofLongs = method(all, appender, "append", long[].class);
            ofNull = method(all, appender, "appendNull");
            close = method(all, appender, "close");
        } catch (ReflectiveOperationException otherVersion) {
            throw new IOException(
                    "DuckDB's driver is not the one that is needed, " + DuckPlugin.ARTIFACT + ": " + otherVersion,
                    otherVersion);
        }
    }

    private static MethodHandle method(MethodHandles.Lookup all, Object appender, String name, Class<?>... parameters)
            throws ReflectiveOperationException {
        return all.unreflect(appender.getClass().getMethod(name, parameters))
                .bindTo(appender)
                .asType(MethodType.methodType(void.class, parameters));
    }

    DuckAppender beginRow() throws IOException {
        return run(beginRow);
    }

    void endRow() throws IOException {
        run(endRow);
    }

    DuckAppender add(int value) throws IOException {
        try {
            ofInt.invokeExact(value);
            return this;
        } catch (Throwable failed) {
            throw failure(failed);
        }
    }

    DuckAppender add(long value) throws IOException {
        try {
            ofLong.invokeExact(value);
            return this;
        } catch (Throwable failed) {
            throw failure(failed);
        }
    }

    /** Adds a real number; NULL if it is not a number. */
    DuckAppender add(double value) throws IOException {
        if (Double.isNaN(value)) {
            return run(ofNull);
        }
        try {
            ofDouble.invokeExact(value);
            return this;
        } catch (Throwable failed) {
            throw failure(failed);
        }
    }

    DuckAppender add(@Nullable Long value) throws IOException {
        return value == null ? run(ofNull) : add((long) value);
    }

    DuckAppender add(@Nullable String value) throws IOException {
        if (value == null) {
            return run(ofNull);
        }
        try {
            ofText.invokeExact(value);
            return this;
        } catch (Throwable failed) {
            throw failure(failed);
        }
    }

    DuckAppender add(int @Nullable [] values) throws IOException {
        if (values == null) {
            return run(ofNull);
        }
        try {
            ofInts.invokeExact(values);
            return this;
        } catch (Throwable failed) {
            throw failure(failed);
        }
    }

    DuckAppender add(long @Nullable [] values) throws IOException {
        if (values == null) {
            return run(ofNull);
        }
        try {
            ofLongs.invokeExact(values);
            return this;
        } catch (Throwable failed) {
            throw failure(failed);
        }
    }

    private DuckAppender run(MethodHandle method) throws IOException {
        try {
            method.invokeExact();
            return this;
        } catch (Throwable failed) {
            throw failure(failed);
        }
    }

    private static IOException failure(Throwable failed) {
        if (failed instanceof Error error) {
            throw error;
        }
        return new IOException("DuckDB takes no more rows: " + failed.getMessage(), failed);
    }

    @Override
    public void close() throws IOException {
        run(close);
    }
}
