package org.brickprofiler;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.GeneralCodingRules.ACCESS_STANDARD_STREAMS;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTag;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.LocationProvider;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.SourceTree;
import org.jspecify.annotations.NullMarked;

/** Checks what holds for the classes of all projects, and for their sources. */
@AnalyzeClasses(locations = WallsTest.Compiled.class)
@OneJdk
@ArchTag("one-jdk")
final class WallsTest {
    private static final String ROOT = "org.brickprofiler";

    private static final Pattern TWO_COMMENTS = Pattern.compile("\\*/\\s+/\\*\\*");

    @ArchTest
    static final ArchRule noCircleBetweenPackages =
            slices().assignedFrom(new EachPackage()).should().beFreeOfCycles();

    /** Drivers of databases are found, and none is named. */
    @ArchTest
    static final ArchRule noDriverOfDatabasesIsNamed =
            noClasses().should().dependOnClassesThat().resideInAnyPackage("org.sqlite..", "org.duckdb..");

    /** The bootstrap loader loads the bridge, so it depends on no class outside of the JDK. */
    @ArchTest
    static final ArchRule theBridgeKnowsTheJdkOnly = classes()
            .that(resideInAPackage(ROOT + ".agent.bridge.."))
            .should()
            .onlyDependOnClassesThat(resideInAnyPackage("java..", "org.jspecify..", ROOT + ".agent.bridge.."));

    /** The log prints where no logger of the platform can. */
    @ArchTest
    static final ArchRule onlyProgramsPrint = noClasses()
            .that()
            .doNotHaveSimpleName("Log")
            .and()
            .resideOutsideOfPackages(
                    ROOT + ".agent..",
                    ROOT + ".cli..",
                    ROOT + ".console..",
                    ROOT + ".demo..",
                    ROOT + ".fleet..",
                    ROOT + ".gpucheck..")
            .should(ACCESS_STANDARD_STREAMS);

    /** A logger of the platform that is found early chooses the application's {@code java.util.logging.manager}. */
    @ArchTest
    static final ArchRule onlyTheLogFindsLoggers = noClasses()
            .that()
            .doNotHaveSimpleName("Log")
            .should()
            .callMethod(System.class, "getLogger", String.class)
            .orShould()
            .dependOnClassesThat()
            .resideInAPackage("org.slf4j..");

    /** A primitive map refers to all its views: some megabytes of classes in the jar of every user. */
    @ArchTest
    static final ArchRule eclipseCollectionsAreKnownAfterTheRunOnly = noClasses()
            .that()
            .resideOutsideOfPackages(ROOT + ".trace.read..", ROOT + ".cli..", ROOT + ".fleet..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.eclipse.collections..");

    /** Two threads that began with two such classes would wait for each other forever: the agent starts on several. */
    @ArchTest
    static void noInitialisersNeedOneAnother(JavaClasses all) {
        Map<JavaClass, Set<JavaClass>> needed = new HashMap<>();
        for (JavaClass each : all) {
            Set<JavaClass> ofEach = new HashSet<>();
            // Only its enum initialises the body of a constant.
            each.getRawSuperclass().filter(type -> !each.isAnonymousClass()).ifPresent(ofEach::add);
            each.getStaticInitializer().ifPresent(initialiser -> need(initialiser, new HashSet<>(), ofEach));
            ofEach.remove(each);
            ofEach.removeIf(other -> !all.contain(other.getName()));
            needed.put(each, ofEach);
        }
        assertThat(needed.values().stream().mapToInt(Set::size).sum()).isGreaterThan(1_000);
        assertThat(needed.keySet())
                .filteredOn(each -> reached(each, needed).contains(each))
                .isEmpty();
    }

    /** Adds the classes that a method initialises, by itself or by methods that it calls. */
    private static void need(JavaCodeUnit unit, Set<JavaCodeUnit> seen, Set<JavaClass> into) {
        if (!seen.add(unit)) {
            return;
        }
        unit.getFieldAccesses().forEach(access -> access.getTarget()
                .resolveMember()
                .filter(field -> field.getModifiers().contains(JavaModifier.STATIC))
                .ifPresent(field -> into.add(field.getOwner())));
        Stream.concat(unit.getCallsFromSelf().stream(), unit.getCodeUnitReferencesFromSelf().stream())
                .flatMap(call -> call.getTarget().resolveMember().stream())
                .filter(JavaCodeUnit.class::isInstance)
                .map(JavaCodeUnit.class::cast)
                .forEach(called -> {
                    if (called.isConstructor() || called.getModifiers().contains(JavaModifier.STATIC)) {
                        into.add(called.getOwner());
                    }
                    need(called, seen, into);
                });
    }

    private static Set<JavaClass> reached(JavaClass from, Map<JavaClass, Set<JavaClass>> needed) {
        Set<JavaClass> reached = new HashSet<>();
        Deque<JavaClass> next = new ArrayDeque<>(needed.getOrDefault(from, Set.of()));
        while (!next.isEmpty()) {
            JavaClass each = next.remove();
            if (reached.add(each)) {
                next.addAll(needed.getOrDefault(each, Set.of()));
            }
        }
        return reached;
    }

    @ArchTest
    static final ArchRule onlyTheHandlerOfItsRecordsUsesJavaUtilLogging = noClasses()
            .that()
            .doNotHaveSimpleName("TimelineLogHandler")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("java.util.logging..");

    @ArchTest
    static final ArchRule noMutablePublicFields = fields().that()
            .arePublic()
            .and()
            .areDeclaredInClassesThat()
            .arePublic()
            .should()
            .beFinal();

    @ArchTest
    static void everyPackageIsNullMarked(JavaClasses classes) {
        assertThat(classes.stream().map(JavaClass::getPackage).distinct())
                .filteredOn(owner -> !owner.isAnnotatedWith(NullMarked.class))
                .extracting(JavaPackage::getName)
                .as("packages without a @NullMarked package-info.java")
                .isEmpty();
    }

    /** The public API refers to no type that a user cannot reach. */
    @ArchTest
    static void noExportedSignatureNamesAnInternalType(JavaClasses classes) {
        Set<String> exported = exportedPackages();
        assertThat(exported).allSatisfy(name -> assertThat(classes.stream())
                .as("classes of the exported package %s", name)
                .anyMatch(each -> each.getPackageName().equals(name)));
        Set<String> leaks = new TreeSet<>();
        for (JavaClass each : classes) {
            if (exported.contains(each.getPackageName()) && isPublic(each)) {
                namedBy(each).forEach((signature, type) -> {
                    if (!isReachable(type, exported)) {
                        leaks.add(signature + " names " + type.getName());
                    }
                });
            }
        }
        assertThat(leaks).isEmpty();
    }

    /** Such a comment is left behind when two methods are merged; only the compiler of JDK 25 warns of it. */
    @ArchTest
    static void noJavadocStandsBeforeAnother(JavaClasses classes) throws IOException {
        List<Path> found = new ArrayList<>();
        for (Path file : SourceTree.javaFiles()) {
            if (TWO_COMMENTS.matcher(Files.readString(file)).find()) {
                found.add(file);
            }
        }
        assertThat(found).isEmpty();
    }

    private static Set<String> exportedPackages() {
        Set<String> exported = new HashSet<>();
        for (Path project : SourceTree.projects()) {
            Path module = project.resolve(Path.of("src", "main", "module", "module-info.java"));
            if (Files.exists(module)) {
                exported.addAll(exportedBy(module));
            }
        }
        return exported;
    }

    /** A package that is exported to named modules is no API. */
    private static Set<String> exportedBy(Path module) {
        try (Stream<String> lines = Files.lines(module)) {
            return lines.map(String::strip)
                    .filter(line -> line.matches("exports [\\w.]+;"))
                    .map(line -> line.substring("exports ".length(), line.length() - 1))
                    .collect(Collectors.toSet());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isPublic(JavaClass type) {
        return type.getModifiers().contains(JavaModifier.PUBLIC)
                && type.getEnclosingClass().map(WallsTest::isPublic).orElse(true);
    }

    /**
     * Returns every type in the signatures of the public and protected members of a type, and its supertypes. Members
     * that a class inherits from a package-private class of its package count as its own.
     */
    private static Map<String, JavaClass> namedBy(JavaClass type) {
        Map<String, JavaClass> named = new TreeMap<>();
        type.getInterfaces().forEach(each -> add(named, type.getName(), each));
        type.getSuperclass().ifPresent(above -> {
            JavaClass parent = above.toErasure();
            if (!isPublic(parent) && parent.getPackage().equals(type.getPackage())) {
                named.putAll(namedBy(parent));
            } else {
                add(named, type.getName(), above);
            }
        });
        for (JavaMember member : type.getMembers()) {
            Set<JavaModifier> modifiers = member.getModifiers();
            boolean visible = modifiers.contains(JavaModifier.PUBLIC) || modifiers.contains(JavaModifier.PROTECTED);
            if (visible && !modifiers.contains(JavaModifier.SYNTHETIC)) {
                if (member instanceof JavaCodeUnit unit) {
                    unit.getParameterTypes().forEach(each -> add(named, member.getFullName(), each));
                    add(named, member.getFullName(), unit.getReturnType());
                } else if (member instanceof JavaField field) {
                    add(named, member.getFullName(), field.getType());
                }
            }
        }
        return named;
    }

    private static void add(Map<String, JavaClass> named, String signature, JavaType type) {
        for (JavaClass each : type.getAllInvolvedRawTypes()) {
            named.put(signature + " (" + each.getSimpleName() + ")", each.getBaseComponentType());
        }
    }

    private static boolean isReachable(JavaClass type, Set<String> exported) {
        String name = type.getPackageName();
        boolean ours = name.equals(ROOT) || name.startsWith(ROOT + ".");
        return !ours || (exported.contains(name) && isPublic(type));
    }

    /** One slice per package, the root package among them; sub-packages are slices of their own. */
    private static final class EachPackage implements SliceAssignment {
        @Override
        public SliceIdentifier getIdentifierOf(JavaClass javaClass) {
            String name = javaClass.getPackageName();
            if (!name.startsWith(ROOT)) {
                return SliceIdentifier.ignore();
            }
            // The root package grants this one access to itself.
            return SliceIdentifier.of(name.equals(ROOT + ".internal.access") ? ROOT : name);
        }

        @Override
        public String getDescription() {
            return "each package";
        }
    }

    /** The compiled classes of all projects, without tests. */
    static final class Compiled implements LocationProvider {
        @Override
        public Set<Location> get(Class<?> testClass) {
            return SourceTree.published().stream()
                    .map(project -> Location.of(project.resolve(Path.of("target", "classes"))))
                    .collect(Collectors.toSet());
        }
    }
}
