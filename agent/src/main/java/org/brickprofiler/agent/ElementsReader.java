package org.brickprofiler.agent;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Makes the code that reads a number or an object from an object by a path of fields, calls and array lengths. A
 * reading fails if the path contains a null, if a call throws, or if the path does not exist, for instance because
 * another version of a class is loaded than the rule was checked against. Each failed reading is counted and gives 0,
 * null or {@link WovenWork#UNREAD}; no exception reaches the application. Stateless; any thread.
 */
final class ElementsReader {

    /** The method of {@link AgentLosses} that counts an unreadable number, in whose place it returns 0. */
    static final String UNREAD = "unread";

    /** The method of {@link AgentLosses} that counts an unreadable number without which work is unknown. */
    static final String UNREAD_AMOUNT = "unreadAmount";

    private ElementsReader() {}

    /**
     * Returns the code that reads a number or an object.
     *
     * @param caller the woven class
     * @param type from the object to a {@code long} or an {@code Object}
     * @param place the rule, for messages
     * @param path the steps, in the format of the bridge
     * @param losses counts failures
     * @param counter the method of {@code losses} that counts a failure and returns the number in place of the value
     */
    static MethodHandle of(
            MethodHandles.Lookup caller,
            MethodType type,
            String place,
            String[] path,
            AgentLosses losses,
            String counter) {
        MethodHandle failed = failed(type, place, losses, counter);
        try {
            MethodHandle read = MethodHandles.identity(type.parameterType(0));
            for (String step : path) {
                read = MethodHandles.filterReturnValue(
                        read, step(caller, read.type().returnType(), step));
            }
            return MethodHandles.catchException(
                    MethodHandles.explicitCastArguments(read, type), Throwable.class, failed);
        } catch (Throwable unreadable) {
            // Linking resolves the application's classes, and may throw anything.
            return MethodHandles.dropArguments(failed.bindTo(unreadable), 0, type.parameterType(0));
        }
    }

    /** Returns the code that counts a failed reading, and returns the value in place of the one that was not read. */
    private static MethodHandle failed(MethodType type, String place, AgentLosses losses, String counter) {
        MethodHandle failed = own(
                        AgentLosses.class, counter, MethodType.methodType(long.class, String.class, Throwable.class))
                .bindTo(losses)
                .bindTo(place);
        if (!type.returnType().isPrimitive()) {
            failed = MethodHandles.filterReturnValue(
                    MethodHandles.explicitCastArguments(failed, failed.type().changeReturnType(void.class)),
                    MethodHandles.zero(type.returnType()));
        }
        return failed;
    }

    private static MethodHandle own(Class<?> type, String method, MethodType signature) {
        try {
            return MethodHandles.lookup().findVirtual(type, method, signature);
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(type.getName() + '.' + method, impossible);
        }
    }

    /**
     * Returns the code that reads the number of an outcome.
     *
     * @param type from the object to an {@code int}
     * @param outcomes the table of values
     */
    static MethodHandle of(
            MethodHandles.Lookup caller,
            MethodType type,
            String place,
            String[] path,
            Outcomes outcomes,
            AgentLosses losses) {
        MethodHandle value = of(caller, type.changeReturnType(Object.class), place, path, losses, UNREAD);
        return lookedUp(value, outcomes, int.class);
    }

    /**
     * Returns the code that reads the bytes of a block of weights from an object that names their type.
     *
     * @param type from the object to a {@code long}
     * @param types the table of values
     */
    static MethodHandle of(
            MethodHandles.Lookup caller,
            MethodType type,
            String place,
            String[] path,
            WeightTypes types,
            AgentLosses losses) {
        MethodHandle value = of(caller, type.changeReturnType(Object.class), place, path, losses, UNREAD_AMOUNT);
        return lookedUp(value, types, long.class);
    }

    /** Returns the code that looks up a value in a table, by the table's method {@code of}. */
    private static MethodHandle lookedUp(MethodHandle value, Object table, Class<?> number) {
        MethodHandle of = own(table.getClass(), "of", MethodType.methodType(number, Object.class))
                .bindTo(table);
        return MethodHandles.filterReturnValue(value, of);
    }

    private static MethodHandle step(MethodHandles.Lookup caller, Class<?> at, String step)
            throws ReflectiveOperationException {
        int colon = step.indexOf(':');
        if (colon < 0) {
            return MethodHandles.arrayLength(at);
        }
        String name = step.substring(0, colon);
        String descriptor = step.substring(colon + 1);
        ClassLoader loader = caller.lookupClass().getClassLoader();
        MethodType type = MethodType.fromMethodDescriptorString(
                descriptor.startsWith("(") ? descriptor : "()" + descriptor, loader);
        try {
            return find(caller, at, name, type, descriptor);
        } catch (IllegalAccessException inaccessible) {
            // The member is not public. Look it up from its own class; within a module, such a lookup is always
            // permitted.
            for (Class<?> each = at; each != null; each = each.getSuperclass()) {
                try {
                    MethodHandles.Lookup within = MethodHandles.privateLookupIn(each, caller);
                    MethodHandle found = find(within, each, name, type, descriptor);
                    return found.asType(found.type().changeParameterType(0, at));
                } catch (ReflectiveOperationException inherited) {
                    inaccessible.addSuppressed(inherited);
                }
            }
            throw inaccessible;
        }
    }

    private static MethodHandle find(
            MethodHandles.Lookup caller, Class<?> at, String name, MethodType type, String descriptor)
            throws ReflectiveOperationException {
        return descriptor.startsWith("(")
                ? caller.findVirtual(at, name, type)
                : caller.findGetter(at, name, type.returnType());
    }
}
