package org.brickprofiler.agent;

import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import java.util.function.Consumer;
import org.brickprofiler.agent.bridge.JdkBridge;
import org.brickprofiler.agent.bridge.SessionBridge;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.VarInsnNode;

/** Weaves calls of {@link SessionBridge} into the sessions of ONNX Runtime and their options. Any thread. */
final class OnnxSessionWeaver implements ClassFileTransformer {

    private static final String SESSION = "ai/onnxruntime/OrtSession";
    private static final String OPTIONS = SESSION + "$SessionOptions";
    private static final String BRIDGE = Type.getInternalName(SessionBridge.class);

    private final Consumer<String> say;

    /**
     * Creates a weaver.
     *
     * @param say prints a message
     */
    OnnxSessionWeaver(Consumer<String> say) {
        this.say = say;
    }

    /** Returns whether a class, by its internal name, is a session or its options. */
    static boolean concerns(String name) {
        return name.equals(SESSION) || name.equals(OPTIONS);
    }

    @Override
    public byte @Nullable [] transform(
            @Nullable ClassLoader loader,
            @Nullable String className,
            @Nullable Class<?> redefined,
            @Nullable ProtectionDomain domain,
            byte[] file) {
        if (className == null || !concerns(className)) {
            return null;
        }
        JdkBridge.enter();
        try {
            if (loader != null && !Weaving.seesBridge(loader)) {
                throw new IllegalStateException("its loader does not see " + SessionBridge.class.getName());
            }
            return weave(file);
        } catch (Throwable failed) {
            say.accept(className.replace('/', '.') + " is not woven, so its own profile is not switched on: " + failed);
            return null;
        } finally {
            JdkBridge.leave();
        }
    }

    private static byte[] weave(byte[] file) {
        ClassReader reader = new ClassReader(file);
        ClassNode type = new ClassNode();
        reader.accept(type, 0);
        for (MethodNode method : type.methods) {
            if (type.name.equals(OPTIONS)) {
                weaveOptions(method);
            } else {
                weaveSession(method);
            }
        }
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        type.accept(writer);
        return writer.toByteArray();
    }

    private static void weaveOptions(MethodNode method) {
        if (method.name.equals("enableProfiling") && method.desc.equals("(Ljava/lang/String;)V")) {
            method.instructions.insert(call("profiled", 0));
        } else if (method.name.equals("disableProfiling") && method.desc.equals("()V")) {
            method.instructions.insert(call("unprofiled", 0));
        }
    }

    private static void weaveSession(MethodNode method) {
        Type[] parameters = Type.getArgumentTypes(method.desc);
        if (method.name.equals("<init>")
                && parameters.length > 0
                && parameters[parameters.length - 1].getInternalName().equals(OPTIONS)) {
            int options = (Type.getArgumentsAndReturnSizes(method.desc) >> 2) - 1;
            for (AbstractInsnNode each : method.instructions.toArray()) {
                if (each.getOpcode() == Opcodes.RETURN) {
                    method.instructions.insertBefore(each, call("created", 0));
                }
            }
            // Before the constructor of the object itself: its argument is all that the call reads.
            method.instructions.insert(call("creating", options));
        } else if (method.name.equals("close") && parameters.length == 0) {
            method.instructions.insert(call("closing", 0));
        } else if (method.name.equals("run") && parameters.length == 4 && (method.access & Opcodes.ACC_NATIVE) == 0) {
            method.instructions.insert(call("runs", 0));
        }
    }

    private static InsnList call(String name, int variable) {
        InsnList code = new InsnList();
        code.add(new VarInsnNode(Opcodes.ALOAD, variable));
        code.add(new MethodInsnNode(Opcodes.INVOKESTATIC, BRIDGE, name, "(Ljava/lang/Object;)V", false));
        return code;
    }
}
