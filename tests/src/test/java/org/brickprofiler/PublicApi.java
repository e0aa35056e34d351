package org.brickprofiler;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.brickprofiler.testing.SourceTree;

/**
 * The signatures that the code of users can depend on, a line each, such that a line that is missing later breaks such
 * code. A type that may be extended has a line that says so; a method of a superclass that is not public is a method of
 * the public subclass.
 */
final class PublicApi {

    private static final Pattern EXPORT = Pattern.compile("(?m)^ *exports ([\\w.]+);");

    private static final Pattern TYPE_ARGUMENTS = Pattern.compile("<[^<>]*>");

    /** By type and member, so that a file reads like a list of types. */
    private static final Comparator<String> ORDER =
            Comparator.comparing(PublicApi::element).thenComparing(Comparator.naturalOrder());

    private PublicApi() {}

    /** Returns an empty set of signatures. */
    static SortedSet<String> signatures() {
        return new TreeSet<>(ORDER);
    }

    /** Returns the signatures of the packages that the module of a project exports to everybody. */
    static SortedSet<String> ofProject(Path project) throws IOException {
        SortedSet<String> signatures = signatures();
        String module = Files.readString(project.resolve(Path.of("src", "main", "module", "module-info.java")));
        for (String exported :
                EXPORT.matcher(module).results().map(match -> match.group(1)).toList()) {
            Path folder = project.resolve(Path.of("target", "classes")).resolve(exported.replace('.', '/'));
            try (Stream<Path> files = Files.list(folder)) {
                files.map(file -> file.getFileName().toString())
                        .filter(name -> name.endsWith(".class") && !name.equals("package-info.class"))
                        .map(name -> load(exported + "." + name.substring(0, name.length() - ".class".length())))
                        .forEach(type -> signatures.addAll(ofType(type)));
            }
        }
        return signatures;
    }

    /** Returns the published projects that are modules. */
    static List<Path> projects() {
        return SourceTree.published().stream()
                .filter(project -> Files.exists(project.resolve(Path.of("src", "main", "module"))))
                .toList();
    }

    private static Class<?> load(String name) {
        try {
            return Class.forName(name, false, PublicApi.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns the signatures of a type; none if it is not public. */
    static SortedSet<String> ofType(Class<?> type) {
        SortedSet<String> signatures = signatures();
        if (!isPublic(type)) {
            return signatures;
        }
        String name = type.getCanonicalName();
        signatures.add((kind(type) + " " + name + variables(type.getTypeParameters())).strip());
        boolean isExtensible = isExtensible(type);
        if (isExtensible) {
            signatures.add("extensible " + name);
        }
        publicSupertypes(type).forEach(supertype -> signatures.add(name + " is a " + supertype.getTypeName()));
        for (Constructor<?> constructor : type.getDeclaredConstructors()) {
            if (isVisible(constructor.getModifiers(), isExtensible) && !constructor.isSynthetic()) {
                String access = Modifier.isAbstract(type.getModifiers()) ? "protected " : access(constructor);
                signatures.add(access + "new " + name + rest(constructor));
            }
        }
        for (Field field : type.getDeclaredFields()) {
            if (isVisible(field.getModifiers(), isExtensible) && !field.isSynthetic()) {
                signatures.add((Modifier.isStatic(field.getModifiers()) ? "static " : "")
                        + field.getGenericType().getTypeName() + " " + name + "." + field.getName());
            }
        }
        methods(type, isExtensible).forEach(method -> signatures.add(signature(name, method, isExtensible)));
        return signatures;
    }

    private static boolean isPublic(Class<?> type) {
        return Modifier.isPublic(type.getModifiers())
                && (type.getEnclosingClass() == null || isPublic(type.getEnclosingClass()))
                && !type.isAnonymousClass();
    }

    private static String kind(Class<?> type) {
        if (type.isAnnotation()) {
            return "annotation";
        }
        if (type.isInterface()) {
            return "interface";
        }
        return type.isEnum() ? "enum" : type.isRecord() ? "record" : "class";
    }

    private static boolean isExtensible(Class<?> type) {
        return !Modifier.isFinal(type.getModifiers())
                && !type.isSealed()
                && (type.isInterface()
                        || Arrays.stream(type.getDeclaredConstructors())
                                .anyMatch(constructor -> isVisible(constructor.getModifiers(), true)));
    }

    private static boolean isVisible(int modifiers, boolean isExtensible) {
        return Modifier.isPublic(modifiers) || (isExtensible && Modifier.isProtected(modifiers));
    }

    private static Stream<Type> publicSupertypes(Class<?> type) {
        Class<?> above = type.getSuperclass();
        Stream<Type> interfaces = Arrays.stream(type.getGenericInterfaces());
        if (above == null) {
            return interfaces;
        }
        if (above == Object.class || above == Record.class || above == Enum.class) {
            return interfaces;
        }
        return Stream.concat(
                interfaces,
                Modifier.isPublic(above.getModifiers())
                        ? Stream.of(type.getGenericSuperclass())
                        : publicSupertypes(above));
    }

    /** Returns the methods of a type, those of its superclasses that are not public included. */
    private static Stream<Method> methods(Class<?> type, boolean isExtensible) {
        Class<?> above = type.getSuperclass();
        Stream<Method> own = Arrays.stream(type.getDeclaredMethods())
                .filter(method -> isVisible(method.getModifiers(), isExtensible))
                .filter(method -> !method.isSynthetic() && !isOfObject(method));
        return above == null || Modifier.isPublic(above.getModifiers())
                ? own
                : Stream.concat(own, methods(above, isExtensible));
    }

    /** Returns whether each object has a method. */
    private static boolean isOfObject(Method method) {
        return Arrays.stream(Object.class.getMethods())
                .anyMatch(each -> each.getName().equals(method.getName())
                        && Arrays.equals(each.getParameterTypes(), method.getParameterTypes()));
    }

    private static String signature(String type, Method method, boolean isExtensible) {
        int modifiers = method.getModifiers();
        return access(method) + (Modifier.isStatic(modifiers) ? "static " : "")
                + (isExtensible && Modifier.isAbstract(modifiers) && method.getDefaultValue() == null
                        ? "abstract "
                        : "")
                + (isExtensible && Modifier.isFinal(modifiers) && !Modifier.isStatic(modifiers) ? "final " : "")
                + variables(method.getTypeParameters())
                + method.getGenericReturnType().getTypeName() + " " + type + "." + method.getName() + rest(method);
    }

    private static String access(Executable executable) {
        return Modifier.isProtected(executable.getModifiers()) ? "protected " : "";
    }

    private static String rest(Executable executable) {
        List<String> parameters = Arrays.stream(executable.getGenericParameterTypes())
                .map(Type::getTypeName)
                .toList();
        String thrown = Arrays.stream(executable.getGenericExceptionTypes())
                .map(Type::getTypeName)
                .sorted()
                .collect(Collectors.joining(", "));
        return "(" + String.join(", ", parameters) + ")" + (thrown.isEmpty() ? "" : " throws " + thrown);
    }

    private static String variables(TypeVariable<?>[] variables) {
        return variables.length == 0
                ? ""
                : Arrays.stream(variables)
                        .map(variable -> variable
                                + Arrays.stream(variable.getBounds())
                                        .map(Type::getTypeName)
                                        .filter(bound -> !bound.equals("java.lang.Object"))
                                        .map(bound -> " extends " + bound)
                                        .collect(Collectors.joining()))
                        .collect(Collectors.joining(", ", "<", "> "));
    }

    /**
     * Returns the changes that break code of users: signatures that are missing, and abstract methods that are new in a
     * type that they may extend; without those that a text names by type and member, such as {@code Step.batch}.
     */
    static List<String> breaks(SortedSet<String> released, SortedSet<String> now, String named) {
        Stream<String> missing = released.stream().filter(signature -> !now.contains(signature));
        Stream<String> demanded = now.stream()
                .filter(signature -> signature.contains("abstract ") && !released.contains(signature))
                .filter(signature -> released.contains("extensible " + typeOf(signature)));
        return Stream.concat(missing, demanded)
                .filter(signature -> !named.contains("`" + shortName(signature) + "`"))
                .toList();
    }

    private static String typeOf(String signature) {
        String name = element(signature);
        return name.substring(0, name.lastIndexOf('.'));
    }

    /** Returns the name of a type or member without its package. */
    private static String shortName(String signature) {
        return element(signature).replaceFirst("^(?:[a-z]\\w*\\.)+", "");
    }

    /** Returns the full name of what a signature is of: the last name before its parameters or its supertype. */
    private static String element(String signature) {
        String before = signature.replaceFirst(" is a .*", "").replaceFirst("\\(.*", "");
        String shorter = TYPE_ARGUMENTS.matcher(before).replaceAll("");
        while (!shorter.equals(before)) {
            before = shorter;
            shorter = TYPE_ARGUMENTS.matcher(before).replaceAll("");
        }
        return before.substring(before.lastIndexOf(' ') + 1);
    }
}
