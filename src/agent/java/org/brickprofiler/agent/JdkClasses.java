package org.brickprofiler.agent;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.tree.AnnotationNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * Tells which rules cannot hold for classes of the JDK, and why. The classes on which the virtual machine, the bridge's
 * guard and the weaving itself run are left alone: a brick in one of them would time the profiler, without end. All
 * other ones call {@link org.brickprofiler.agent.bridge.JdkBridge}. Stateless; any thread.
 */
final class JdkClasses {

    private static final String BRIDGE = MethodWeaver.BRIDGE.substring(0, 1 + MethodWeaver.BRIDGE.lastIndexOf('/'));

    private static final String CONCURRENT = "java/util/concurrent/";

    /** Packages with all that are below them. */
    private static final List<String> USED = List.of(
            "java/lang/",
            CONCURRENT,
            "java/util/function/",
            "jdk/internal/",
            "sun/instrument/",
            "sun/invoke/",
            "sun/misc/");

    /** A package without those below it. */
    private static final String UTIL = "java/util/";

    private static final String INTRINSIC = "Ljdk/internal/vm/annotation/IntrinsicCandidate;";

    private JdkClasses() {}

    /** Returns whether a loader is one of the JDK's own, whose classes the profiler sees, too. */
    static boolean isLoader(@Nullable ClassLoader loader) {
        return loader == null || loader == ClassLoader.getPlatformClassLoader();
    }

    /**
     * Checks whether a rule may name a class.
     *
     * @param loader the loader of the class
     * @throws IllegalArgumentException when it may not
     */
    static void requireWeavable(ClassNode type, @Nullable ClassLoader loader, Rule rule) {
        String name = type.name;
        if (name.startsWith(BRIDGE)) {
            throw new IllegalArgumentException(
                    name.replace('/', '.') + " is a class of the agent, which woven code calls");
        }
        if (isLoader(loader) && (rule.kind() == Rule.Kind.STEP || rule.kind() == Rule.Kind.LAYER)) {
            throw new IllegalArgumentException(name.replace('/', '.')
                    + " is a class of the JDK: steps and layers are of the engine, name one of its methods");
        }
        boolean isUsed = USED.stream().anyMatch(name::startsWith)
                || (name.startsWith(UTIL) && name.indexOf('/', UTIL.length()) < 0);
        if (isUsed && !(rule.kind() == Rule.Kind.TASK && name.startsWith(CONCURRENT))) {
            throw new IllegalArgumentException(name.replace('/', '.')
                    + " is a class of the JDK on which the profiler itself runs: name a method of the "
                    + "engine that calls it, with call: " + rule.target().method());
        }
    }

    /**
     * Checks whether a method runs when it is called.
     *
     * @throws IllegalArgumentException when compilers put code of their own in the place of its calls
     */
    static void requireCalled(MethodNode method) {
        List<AnnotationNode> annotations = method.visibleAnnotations;
        if (annotations != null && annotations.stream().anyMatch(each -> each.desc.equals(INTRINSIC))) {
            throw new IllegalArgumentException(
                    method.name + " is an intrinsic: compiled code does not call it, so that most of "
                            + "its calls would not count; name a method of the engine that calls it, with call: "
                            + method.name);
        }
    }
}
