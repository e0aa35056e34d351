package org.brickprofiler.agent;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.tree.AnnotationNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * Refuses rules that cannot be applied to classes of the JDK. Classes that the JVM, the bridge's guard or the weaver
 * use are never woven: a brick in one of them would time the profiler itself, in an endless recursion. Woven code in
 * other classes of the JDK calls {@link org.brickprofiler.agent.bridge.JdkBridge}. Stateless; any thread.
 */
final class JdkClasses {

    /** The kinds of rules that name a method of the engine. */
    private static final Set<WeaveRule.Kind> ENGINES =
            EnumSet.complementOf(EnumSet.of(WeaveRule.Kind.BRICK, WeaveRule.Kind.TASK));

    private static final String BRIDGE = MethodWeaver.BRIDGE.substring(0, 1 + MethodWeaver.BRIDGE.lastIndexOf('/'));

    private static final String CONCURRENT = "java/util/concurrent/";

    /** Packages that are never woven, including their subpackages. */
    private static final List<String> USED = List.of(
            "java/lang/",
            CONCURRENT,
            "java/util/function/",
            "jdk/internal/",
            "sun/instrument/",
            "sun/invoke/",
            "sun/misc/");

    /** A package that is never woven; its subpackages may be. */
    private static final String UTIL = "java/util/";

    private static final String INTRINSIC = "Ljdk/internal/vm/annotation/IntrinsicCandidate;";

    private JdkClasses() {}

    /** Returns whether a loader is one of the JDK's own; the profiler uses the same classes as the application then. */
    static boolean isLoader(@Nullable ClassLoader loader) {
        return loader == null || loader == ClassLoader.getPlatformClassLoader();
    }

    /**
     * Checks whether a rule may name a class.
     *
     * @param loader the loader of the class
     * @throws IllegalArgumentException when the class must not be woven by this rule
     */
    static void requireWeavable(ClassNode type, @Nullable ClassLoader loader, WeaveRule rule) {
        String name = type.name;
        if (name.startsWith(BRIDGE)) {
            throw new IllegalArgumentException(
                    name.replace('/', '.') + " is a class of the agent, which woven code calls");
        }
        if (isLoader(loader) && ENGINES.contains(rule.kind())) {
            throw new IllegalArgumentException(
                    name.replace('/', '.')
                            + " is a class of the JDK: requests, prompts, steps and layers belong to the engine, name one of its methods");
        }
        if (isLoader(loader) && rule.product().isPresent()) {
            throw new IllegalArgumentException(name.replace('/', '.')
                    + " is a class of the JDK: state work: in a rule for the engine that calls it");
        }
        boolean isUsed = USED.stream().anyMatch(name::startsWith)
                || (name.startsWith(UTIL) && name.indexOf('/', UTIL.length()) < 0);
        if (isUsed && !(rule.kind() == WeaveRule.Kind.TASK && name.startsWith(CONCURRENT))) {
            throw new IllegalArgumentException(name.replace('/', '.')
                    + " is a class of the JDK on which the profiler itself runs: name a method of the "
                    + "engine that calls it, with call: " + rule.target().method());
        }
    }

    /**
     * Checks that calls of a method execute its bytecode.
     *
     * @throws IllegalArgumentException when the method is an intrinsic, whose calls JIT compilers replace by their own
     *     code
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
