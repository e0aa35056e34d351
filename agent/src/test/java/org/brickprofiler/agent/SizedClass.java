package org.brickprofiler.agent;

import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Class files with a method of a chosen size. */
final class SizedClass {

    private SizedClass() {}

    /** Returns a class {@code Sized} whose static method has {@code bytes} bytes of bytecode and does nothing. */
    static byte[] of(String name, String descriptor, int bytes) {
        ClassWriter writer = new ClassWriter(0);
        writer.visit(Opcodes.V17, Opcodes.ACC_PUBLIC, "Sized", null, "java/lang/Object", null);
        MethodVisitor method = writer.visitMethod(Opcodes.ACC_STATIC, name, descriptor, null, null);
        method.visitCode();
        for (int i = 1; i < bytes; i++) {
            method.visitInsn(Opcodes.NOP);
        }
        method.visitInsn(Opcodes.RETURN);
        method.visitMaxs(0, 1);
        method.visitEnd();
        writer.visitEnd();
        return writer.toByteArray();
    }
}
