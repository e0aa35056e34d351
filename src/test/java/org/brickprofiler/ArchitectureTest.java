package org.brickprofiler;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.conditions.ArchConditions.be;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.GeneralCodingRules.ACCESS_STANDARD_STREAMS;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaCodeUnitAccess;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.LocationProvider;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;

/**
 * Checks which package may depend on which, on the compiled classes of the library and of the programs.
 *
 * <p>Four layers, and every dependency points down: top (programs; no part of the library), outer (uses of results and
 * spans), core (the root package alone), ground (small tools without a notion of bricks). A rule that applies to no
 * class fails. A package that is named here but does not exist fails the test, too.
 */
@AnalyzeClasses(locations = ArchitectureTest.Compiled.class)
final class ArchitectureTest {
    private static final String ROOT = "org.brickprofiler";

    private static final int MOST_ARGUMENTS = 8;

    private static final Pattern COMMENT = Pattern.compile("/\\*.*?\\*/", Pattern.DOTALL);
    private static final Pattern TWO_COMMENTS = Pattern.compile("\\*/\\s+/\\*\\*");

    /** The packages that the rules are about. */
    private static final Set<String> NAMED = new TreeSet<>();

    private static final DescribedPredicate<JavaClass> OURS =
            resideInAPackage(ROOT + "..").as("are of this library");

    private static final DescribedPredicate<JavaClass> EXAMPLE =
            inPackage("demo").or(inPackage("gpucheck")).as("are of an example or of the checks for a GPU");

    /** Readers of traces are parts of the programs, as fleets are; the library does not know them. */
    private static final DescribedPredicate<JavaClass> READERS = inPackage("trace.read");

    private static final DescribedPredicate<JavaClass> TOP = inPackage("cli")
            .or(inPackage("fleet"))
            .or(READERS)
            .or(inPackage("agent"))
            .or(EXAMPLE)
            .as("are in the top layer");

    private static final DescribedPredicate<JavaClass> REPORT = inPackage("report");
    private static final DescribedPredicate<JavaClass> TRACE =
            inPackage("trace").and(not(READERS)).as("are in the package trace and do not read traces");
    private static final DescribedPredicate<JavaClass> KERNEL = inPackage("kernel");
    private static final DescribedPredicate<JavaClass> COMPARE = inPackage("compare");
    private static final DescribedPredicate<JavaClass> ROOFLINE = inPackage("roofline");

    private static final DescribedPredicate<JavaClass> EXPORT = inPackage("export");
    private static final DescribedPredicate<JavaClass> METRICS = inPackage("metrics");
    private static final DescribedPredicate<JavaClass> JFR = inPackage("jfr");

    private static final DescribedPredicate<JavaClass> OUTER = REPORT.or(TRACE)
            .or(KERNEL)
            .or(COMPARE)
            .or(ROOFLINE)
            .or(EXPORT)
            .or(METRICS)
            .or(JFR)
            .as("are in the outer layer");

    private static final DescribedPredicate<JavaClass> CORE =
            resideInAPackage(ROOT).as("are in the core");

    private static final DescribedPredicate<JavaClass> SPI = inPackage("spi");
    private static final DescribedPredicate<JavaClass> IO = inPackage("internal.io");
    private static final DescribedPredicate<JavaClass> RECORD = inPackage("internal.record");
    private static final DescribedPredicate<JavaClass> STATS = inPackage("stats");
    private static final DescribedPredicate<JavaClass> REQUEST = inPackage("request");
    private static final DescribedPredicate<JavaClass> TILE = inPackage("tile");
    private static final DescribedPredicate<JavaClass> DEVICE = inPackage("device");
    private static final DescribedPredicate<JavaClass> MARKS = inPackage("internal.device");
    private static final DescribedPredicate<JavaClass> GRAPH = inPackage("graph");
    private static final DescribedPredicate<JavaClass> CHECKSUM = inPackage("checksum");

    private static final DescribedPredicate<JavaClass> TOOLS =
            TILE.or(DEVICE).or(MARKS).or(GRAPH).or(CHECKSUM).or(REQUEST).as("are a tool of the ground layer");

    private static final DescribedPredicate<JavaClass> GROUND =
            SPI.or(IO).or(RECORD).or(STATS).or(TOOLS).as("are in the ground layer");

    /** The only ground packages with a foreign library beneath them. */
    private static final DescribedPredicate<JavaClass> GPU_BINDING = inPackage("device.cuda")
            .or(inPackage("device.metal"))
            .or(inPackage("device.opencl"))
            .as("are in a GPU binding");

    private static final DescribedPredicate<JavaClass> JMX = inPackage("metrics.jmx");

    private static final DescribedPredicate<JavaClass> BRIDGE = inPackage("metrics.micrometer")
            .or(inPackage("metrics.otel"))
            .or(JMX)
            .as("are in a bridge to another system");

    @ArchTest
    static final ArchRule everyClassBelongsToALayer =
            classes().should(be(TOP.or(OUTER).or(CORE).or(GROUND).as("in one of the four layers")));

    @ArchTest
    static final ArchRule noCircleBetweenPackages =
            slices().assignedFrom(new EachPackage()).should().beFreeOfCycles();

    @ArchTest
    static final ArchRule groundKnowsNothingAboveIt = noClasses()
            .that(GROUND)
            .should()
            .dependOnClassesThat(CORE.or(OUTER).or(TOP).as("are above the ground layer"));

    @ArchTest
    static final ArchRule spiAndIoKnowNothingAboveThem = noClasses()
            .that(SPI.or(IO).as("are in spi or internal.io"))
            .should()
            .dependOnClassesThat(RECORD.or(TOOLS).as("are above them"));

    @ArchTest
    static final ArchRule recordingKnowsNoTool =
            noClasses().that(RECORD).should().dependOnClassesThat(TOOLS);

    @ArchTest
    static final ArchRule streamsDoNotKnowWhoTimesThem =
            noClasses().that(DEVICE).should().dependOnClassesThat(MARKS);

    @ArchTest
    static final ArchRule tilesStandAlone = standsAlone(TILE, TOOLS);

    @ArchTest
    static final ArchRule devicesStandAlone = standsAlone(DEVICE.or(MARKS), TOOLS);

    @ArchTest
    static final ArchRule graphsStandAlone = standsAlone(GRAPH, TOOLS);

    @ArchTest
    static final ArchRule checksumsStandAlone = standsAlone(CHECKSUM, TOOLS);

    @ArchTest
    static final ArchRule requestsStandAlone = standsAlone(REQUEST, TOOLS);

    @ArchTest
    static final ArchRule statisticsKnowNoTool =
            noClasses().that(STATS).should().dependOnClassesThat(TOOLS);

    @ArchTest
    static final ArchRule coreKnowsTheGroundOnly =
            noClasses().that(CORE).should().dependOnClassesThat(OUTER.or(TOP).as("are above the core"));

    @ArchTest
    static final ArchRule outerKnowsNothingAboveIt =
            noClasses().that(OUTER).should().dependOnClassesThat(TOP);

    @ArchTest
    static final ArchRule fleetsKnowNoProgram = noClasses()
            .that(inPackage("fleet"))
            .should()
            .dependOnClassesThat(inPackage("cli").or(inPackage("agent")).or(EXAMPLE));

    @ArchTest
    static final ArchRule readersKnowTimelinesOnly = noClasses()
            .that(READERS)
            .should()
            .dependOnClassesThat(OUTER.and(not(TRACE)).or(TOP.and(not(READERS))).as("are beside or above the readers"));

    @ArchTest
    static final ArchRule theCommandLineKnowsNoExample =
            noClasses().that(inPackage("cli")).should().dependOnClassesThat(EXAMPLE);

    /** Reports show the results of other packages, and read no trace. */
    @ArchTest
    static final ArchRule reportKnowsWhatItShows =
            standsAlone(REPORT, OUTER.and(not(COMPARE.or(ROOFLINE).or(KERNEL).or(resideInAPackage(ROOT + ".trace")))));

    @ArchTest
    static final ArchRule exportKnowsReportsOnly = standsAlone(EXPORT, OUTER.and(not(REPORT)));

    @ArchTest
    static final ArchRule compareStandsAlone = standsAlone(COMPARE, OUTER);

    @ArchTest
    static final ArchRule rooflineStandsAlone = standsAlone(ROOFLINE, OUTER);

    @ArchTest
    static final ArchRule traceStandsAlone = standsAlone(TRACE, OUTER);

    @ArchTest
    static final ArchRule kernelStandsAlone = standsAlone(KERNEL, OUTER);

    @ArchTest
    static final ArchRule metricsStandAlone = standsAlone(METRICS, OUTER);

    @ArchTest
    static final ArchRule eventsStandAlone = standsAlone(JFR, OUTER);

    @ArchTest
    static final ArchRule micrometerIsKnownToItsBridgeOnly = noClasses()
            .that(not(inPackage("metrics.micrometer")))
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.micrometer..");

    @ArchTest
    static final ArchRule bridgesAreKnownToNobody =
            noClasses().that(not(BRIDGE)).should().dependOnClassesThat(BRIDGE.and(not(JMX)));

    /** Programs register their profilers, so that {@code brick top} can watch them. */
    @ArchTest
    static final ArchRule beansAreKnownToProgramsOnly =
            noClasses().that(not(BRIDGE.or(TOP))).should().dependOnClassesThat(JMX);

    @ArchTest
    static final ArchRule coreAndGroundUseFewLibraries = classes()
            .that(CORE.or(GROUND).and(not(GPU_BINDING)).as("are in the core or the ground layer"))
            .should()
            .onlyDependOnClassesThat(resideInAnyPackage(
                    "java..", "org.eclipse.collections..", "org.slf4j..", "org.jspecify..", ROOT + ".."));

    @ArchTest
    static final ArchRule statisticsAreKnownToComparisonsAndFleetsOnly = noClasses()
            .that(not(COMPARE.or(inPackage("fleet"))))
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "org.apache.commons.numbers..", "org.apache.commons.rng..", "org.apache.commons.statistics..");

    /** The library works with any database driver, and names none. */
    @ArchTest
    static final ArchRule databasesAreKnownToReadersOfTracesAndFleetsOnly = noClasses()
            .that(not(READERS.or(inPackage("fleet"))))
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("java.sql..", "org.sqlite..");

    @ArchTest
    static final ArchRule noDriverOfDatabasesIsNamed =
            noClasses().should().dependOnClassesThat().resideInAnyPackage("org.sqlite..", "org.duckdb..");

    @ArchTest
    static final ArchRule gpuBindingsAreReachedFromTheTopOnly = noClasses()
            .that(not(GPU_BINDING).and(not(TOP)).as("are neither a GPU binding nor in the top layer"))
            .should()
            .dependOnClassesThat(GPU_BINDING);

    /** The bootstrap loader loads the bridge, so it depends on no class outside of the JDK. */
    @ArchTest
    static final ArchRule theBridgeKnowsTheJdkOnly = classes()
            .that(inPackage("agent.bridge"))
            .should()
            .onlyDependOnClassesThat(resideInAnyPackage("java..", "org.jspecify..", ROOT + ".agent.bridge.."));

    @ArchTest
    static final ArchRule weavingIsKnownToTheAgentOnly = noClasses()
            .that(not(inPackage("agent")))
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.objectweb.asm..", "org.snakeyaml..", ROOT + ".agent..");

    @ArchTest
    static final ArchRule onlyProgramsPrint =
            noClasses().that(not(TOP).or(READERS)).should(ACCESS_STANDARD_STREAMS);

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

    @ArchTest
    static void everyPackageThatIsNamedExists(JavaClasses classes) {
        assertThat(NAMED)
                .filteredOn(name -> classes.stream().noneMatch(inPackage(name)))
                .as("packages without a class")
                .isEmpty();
    }

    /** The public API refers neither to a type that a user cannot reach, nor to a collection of Eclipse Collections. */
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

    @ArchTest
    static void fewTypesAreExported(JavaClasses classes) {
        Set<String> exported = exportedPackages();
        assertThat(classes.stream())
                .filteredOn(each -> exported.contains(each.getPackageName()))
                .filteredOn(each -> each.isTopLevelClass() && isPublic(each))
                .hasSizeLessThanOrEqualTo(115);
    }

    /**
     * In a long list of arguments, one is easily taken for another, so records with many components have a builder.
     * Functions of OpenCL have the parameters that its specification gives.
     */
    @ArchTest
    static void noCallHasMoreThanEightArguments(JavaClasses classes) {
        JavaClasses tests = new ClassFileImporter().importPath(Path.of("target", "test-classes"));
        List<JavaCodeUnitAccess<?>> calls = Stream.of(classes, tests)
                .flatMap(JavaClasses::stream)
                .flatMap(each -> each.getCodeUnits().stream())
                .flatMap(ArchitectureTest::callsAndReferences)
                .filter(call -> OURS.test(call.getTargetOwner()))
                .toList();
        assertThat(calls.size()).as("checked calls").isGreaterThan(40_000);
        assertThat(calls)
                .filteredOn(call -> call.getTarget().getRawParameterTypes().size() > MOST_ARGUMENTS)
                .filteredOn(call -> !isOfItsBuilder(call) && !isOfOpenCl(call))
                .extracting(JavaCodeUnitAccess::getDescription)
                .isEmpty();
    }

    private static Stream<JavaCodeUnitAccess<?>> callsAndReferences(JavaCodeUnit unit) {
        return Stream.of(
                        unit.getMethodCallsFromSelf(),
                        unit.getConstructorCallsFromSelf(),
                        unit.getMethodReferencesFromSelf(),
                        unit.getConstructorReferencesFromSelf())
                .flatMap(Set::stream);
    }

    private static boolean isOfItsBuilder(JavaCodeUnitAccess<?> call) {
        return call.getOriginOwner().getName().equals(call.getTargetOwner().getName() + "$Builder");
    }

    private static boolean isOfOpenCl(JavaCodeUnitAccess<?> call) {
        return call.getTarget().getName().startsWith("clEnqueue");
    }

    /** Comments and blank lines do not count. */
    @ArchTest
    static void noFileHasMoreThan900LinesOfCode(JavaClasses classes) throws IOException {
        Map<Path, Long> lines = new TreeMap<>();
        for (String root : List.of("main", "agent", "cli", "fleet", "readers", "spark", "examples")) {
            for (Path file : sources(Path.of("src", root, "java"))) {
                lines.put(file, linesOfCode(Files.readString(file)));
            }
        }
        assertThat(lines).hasSizeGreaterThan(100).allSatisfy((file, count) -> assertThat(count)
                .as("lines of code of %s", file)
                .isLessThanOrEqualTo(900));
    }

    /** Such a comment is left behind when two methods are merged; only the compiler of JDK 25 warns of it. */
    @ArchTest
    static void noJavadocStandsBeforeAnother(JavaClasses classes) throws IOException {
        List<Path> found = new ArrayList<>();
        for (Path file : sources(Path.of("src"))) {
            if (TWO_COMMENTS.matcher(Files.readString(file)).find()) {
                found.add(file);
            }
        }
        assertThat(found).isEmpty();
    }

    private static List<Path> sources(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(each -> each.toString().endsWith(".java")).toList();
        }
    }

    private static long linesOfCode(String source) {
        return COMMENT.matcher(source)
                .replaceAll("")
                .lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty() && !line.startsWith("//"))
                .count();
    }

    private static Set<String> exportedPackages() {
        try {
            return Files.readString(Path.of("src", "main", "module", "module-info.java"))
                    .lines()
                    .map(String::strip)
                    .filter(line -> line.startsWith("exports "))
                    .map(line -> line.substring("exports ".length(), line.length() - 1))
                    .collect(Collectors.toSet());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isPublic(JavaClass type) {
        return type.getModifiers().contains(JavaModifier.PUBLIC)
                && type.getEnclosingClass().map(ArchitectureTest::isPublic).orElse(true);
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
        return ours ? exported.contains(name) && isPublic(type) : !name.startsWith("org.eclipse.collections");
    }

    private static DescribedPredicate<JavaClass> inPackage(String name) {
        NAMED.add(name);
        return resideInAPackage(ROOT + "." + name + "..").as("are in the package " + name);
    }

    private static ArchRule standsAlone(DescribedPredicate<JavaClass> one, DescribedPredicate<JavaClass> layer) {
        return noClasses()
                .that(one)
                .should()
                .dependOnClassesThat(layer.and(not(one)).as("are beside it"));
    }

    /** One slice per package, the root package among them; sub-packages are slices of their own. */
    private static final class EachPackage implements SliceAssignment {
        @Override
        public SliceIdentifier getIdentifierOf(JavaClass javaClass) {
            return OURS.test(javaClass) ? SliceIdentifier.of(javaClass.getPackageName()) : SliceIdentifier.ignore();
        }

        @Override
        public String getDescription() {
            return "each package";
        }
    }

    /** The folder of the compiled library and programs, without the tests. */
    static final class Compiled implements LocationProvider {
        @Override
        public Set<Location> get(Class<?> testClass) {
            return Set.of(Location.of(Path.of("target", "classes")));
        }
    }
}
