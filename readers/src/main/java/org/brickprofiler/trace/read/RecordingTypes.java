package org.brickprofiler.trace.read;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.trace.read.RecordingBytes.Constants;
import org.brickprofiler.trace.read.RecordingBytes.DamagedException;
import org.eclipse.collections.impl.map.mutable.primitive.LongObjectHashMap;

/** The types of a chunk of a flight recording, as the chunk describes them. Immutable; one thread. */
final class RecordingTypes {

    static final String TEXT = "java.lang.String";
    static final String NUMBER = "long";

    private static final String SUPER_TYPE_OF_EVENTS = "jdk.jfr.Event";

    /** Deeper elements and values are damage. */
    private static final int DEEPEST = 16;

    private final LongObjectHashMap<Type> types = new LongObjectHashMap<>();

    /**
     * A type.
     *
     * @param name its name, as {@code jdk.ExecutionSample}
     * @param isEvent whether it is one of events
     * @param fields its fields in the order of their values
     */
    private record Type(String name, boolean isEvent, List<Field> fields) {}

    /**
     * A field.
     *
     * @param name its name
     * @param type the number of the type of its values
     * @param isConstant whether an event has the number of its value among the constants
     * @param isArray whether it has several values
     */
    record Field(String name, long type, boolean isConstant, boolean isArray) {}

    /**
     * Reads the description of the types of a chunk.
     *
     * @param bytes the values of its event after their times
     * @throws DamagedException when it is malformed
     */
    RecordingTypes(RecordingBytes bytes) throws IOException {
        bytes.readNumber(); // its number
        long count = bytes.readNumber();
        List<String> texts = new ArrayList<>();
        Constants none = number -> null;
        for (long i = 0; i < count; i++) {
            texts.add(String.valueOf(bytes.readText(none)));
        }
        for (Element metadata : element(bytes, texts, 0).children) {
            for (Element element : metadata.children) {
                if (element.name.equals("class")) {
                    types.put(element.number(element.id), element.type());
                }
            }
        }
    }

    /** An element of the description, which is a tree, with the attributes that matter; those without are empty. */
    private static final class Element {
        private final String name;
        private String id = "";
        private String nameOf = "";
        private String superType = "";
        private String typeOf = "";
        private boolean isConstant;
        private boolean isArray;
        private final List<Element> children = new ArrayList<>(2);

        Element(String name) {
            this.name = name;
        }

        void attribute(String attribute, String value) {
            switch (attribute) {
                case "id" -> id = value;
                case "name" -> nameOf = value;
                case "superType" -> superType = value;
                case "class" -> typeOf = value;
                case "constantPool" -> isConstant = value.equals("true");
                case "dimension" -> isArray = true;
                default -> {
                    // It does not say how values are written.
                }
            }
        }

        long number(String text) throws DamagedException {
            try {
                return Long.parseLong(text);
            } catch (NumberFormatException malformed) {
                throw new DamagedException("a " + name + " of the description of types has the number '" + text + "'");
            }
        }

        Type type() throws DamagedException {
            List<Field> fields = new ArrayList<>();
            for (Element child : children) {
                if (child.name.equals("field")) {
                    fields.add(new Field(child.nameOf, child.number(child.typeOf), child.isConstant, child.isArray));
                }
            }
            return new Type(nameOf, superType.equals(SUPER_TYPE_OF_EVENTS), fields);
        }
    }

    private static Element element(RecordingBytes bytes, List<String> texts, int depth) throws IOException {
        if (depth > DEEPEST) {
            throw new DamagedException("the description of types is nested deeper than " + DEEPEST);
        }
        Element element = new Element(text(bytes, texts));
        long count = bytes.readNumber();
        for (long i = 0; i < count; i++) {
            element.attribute(text(bytes, texts), text(bytes, texts));
        }
        long inner = bytes.readNumber();
        for (long i = 0; i < inner; i++) {
            element.children.add(element(bytes, texts, depth + 1));
        }
        return element;
    }

    private static String text(RecordingBytes bytes, List<String> texts) throws DamagedException {
        long number = bytes.readNumber();
        if (number < 0 || number >= texts.size()) {
            throw new DamagedException("the description of types has no text " + number);
        }
        return texts.get((int) number);
    }

    /** Returns the name of a type by its number; empty if the chunk does not describe it. */
    String name(long number) {
        Type type = types.get(number);
        return type == null ? "" : type.name();
    }

    /** Returns the fields of a type by its number; none if the chunk does not describe it. */
    List<Field> fields(long number) {
        Type type = types.get(number);
        return type == null ? List.of() : type.fields();
    }

    /** Returns the numbers of the types of events. */
    long[] events() {
        return types.select((number, type) -> type.isEvent()).keySet().toArray();
    }

    /** Returns the name of a type of events by its number; empty if the chunk describes none of the number. */
    String eventName(long number) {
        Type type = types.get(number);
        return type == null || !type.isEvent() ? "" : type.name();
    }

    /**
     * Skips the value of a field.
     *
     * @throws DamagedException when it is malformed
     */
    void skip(RecordingBytes bytes, Field field) throws IOException {
        skip(bytes, field, 0);
    }

    private void skip(RecordingBytes bytes, Field field, int depth) throws IOException {
        long count = field.isArray() ? bytes.readNumber() : 1;
        for (long i = 0; i < count; i++) {
            if (field.isConstant()) {
                bytes.readNumber();
            } else {
                skipValue(bytes, field.type(), depth);
            }
        }
    }

    /**
     * Skips a value of a type.
     *
     * @throws DamagedException when it is malformed
     */
    void skipValue(RecordingBytes bytes, long type) throws IOException {
        skipValue(bytes, type, 0);
    }

    private void skipValue(RecordingBytes bytes, long number, int depth) throws IOException {
        Type type = types.get(number);
        if (type == null || depth > DEEPEST) {
            throw new DamagedException(
                    type == null ? "the chunk does not describe the type " + number : "a value is nested too deep");
        }
        switch (type.name()) {
            case NUMBER, "int", "short", "char" -> bytes.readNumber();
            case "byte", "boolean" -> bytes.skip(1);
            case "float" -> bytes.skip(Float.BYTES);
            case "double" -> bytes.skip(Double.BYTES);
            case TEXT -> bytes.readText(constant -> null);
            default -> {
                for (Field field : type.fields()) {
                    skip(bytes, field, depth + 1);
                }
            }
        }
    }
}
