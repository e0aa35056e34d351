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
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.LocationProvider;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.NullMarked;

/**
 * Which package may know which, read off the compiled classes of the library and of the programs.
 *
 * <p>Four layers, and every dependency points down: top (what a person starts; no part of the
 * library), outer (what is made of results and spans), core (the root package alone), ground (small
 * tools that do not know what a brick is). A rule that nothing is subject to fails, and so does a
 * package that is named here and does not exist.
 */
@AnalyzeClasses(locations = ArchitectureTest.Compiled.class)
final class ArchitectureTest {
    private static final String ROOT = "org.brickprofiler";

    /** The packages that the rules are about. */
    private static final Set<String> NAMED = new TreeSet<>();

    private static final DescribedPredicate<JavaClass> OURS =
            resideInAPackage(ROOT + "..").as("are of this library");

    private static final DescribedPredicate<JavaClass> EXAMPLE =
            inPackage("demo").or(inPackage("gpucheck")).as("are of an example or of the checks for a GPU");

    private static final DescribedPredicate<JavaClass> TOP =
            inPackage("cli").or(EXAMPLE).as("are in the top layer");

    private static final DescribedPredicate<JavaClass> REPORT = inPackage("report");
    private static final DescribedPredicate<JavaClass> TRACE = inPackage("trace");
    private static final DescribedPredicate<JavaClass> KERNEL = inPackage("kernel");

    private static final DescribedPredicate<JavaClass> OUTER =
            REPORT.or(TRACE).or(KERNEL).as("are in the outer layer");

    private static final DescribedPredicate<JavaClass> CORE =
            resideInAPackage(ROOT).as("are in the core");

    private static final DescribedPredicate<JavaClass> GROUND =
            inPackage("record")
                    .or(inPackage("tile"))
                    .or(inPackage("device"))
                    .or(inPackage("graph"))
                    .or(inPackage("checksum"))
                    .or(inPackage("io"))
                    .as("are in the ground layer");

    /** The only ground packages with a foreign library beneath them. */
    private static final DescribedPredicate<JavaClass> GPU_BINDING =
            inPackage("device.cuda").or(inPackage("device.metal")).as("are in a GPU binding");

    @ArchTest
    static final ArchRule everyClassBelongsToALayer =
            classes().should(be(TOP.or(OUTER).or(CORE).or(GROUND).as("in one of the four layers")));

    @ArchTest
    static final ArchRule noCircleBetweenPackages =
            slices().assignedFrom(new EachPackage()).should().beFreeOfCycles();

    @ArchTest
    static final ArchRule groundKnowsNothingAboveIt =
            noClasses()
                    .that(GROUND)
                    .should()
                    .dependOnClassesThat(CORE.or(OUTER).or(TOP).as("are above the ground layer"));

    @ArchTest
    static final ArchRule coreKnowsTheGroundOnly =
            noClasses()
                    .that(CORE)
                    .should()
                    .dependOnClassesThat(OUTER.or(TOP).as("are above the core"));

    @ArchTest
    static final ArchRule outerKnowsNothingAboveIt =
            noClasses().that(OUTER).should().dependOnClassesThat(TOP);

    @ArchTest
    static final ArchRule theCommandLineKnowsNoExample =
            noClasses().that(inPackage("cli")).should().dependOnClassesThat(EXAMPLE);

    @ArchTest static final ArchRule reportStandsAlone = standsAlone(REPORT);
    @ArchTest static final ArchRule traceStandsAlone = standsAlone(TRACE);
    @ArchTest static final ArchRule kernelStandsAlone = standsAlone(KERNEL);

    @ArchTest
    static final ArchRule coreAndGroundUseFewLibraries =
            classes()
                    .that(CORE.or(GROUND).and(not(GPU_BINDING)).as("are in the core or the ground layer"))
                    .should()
                    .onlyDependOnClassesThat(
                            resideInAnyPackage(
                                    "java..",
                                    "org.eclipse.collections..",
                                    "org.slf4j..",
                                    "org.jspecify..",
                                    ROOT + ".."));

    @ArchTest
    static final ArchRule gpuBindingsAreReachedFromTheTopOnly =
            noClasses()
                    .that(not(GPU_BINDING).and(not(TOP)).as("are neither a GPU binding nor in the top layer"))
                    .should()
                    .dependOnClassesThat(GPU_BINDING);

    @ArchTest
    static final ArchRule onlyProgramsPrint =
            noClasses()
                    .that(not(TOP))
                    .should(ACCESS_STANDARD_STREAMS);

    @ArchTest
    static final ArchRule nobodyUsesJavaUtilLogging =
            noClasses()
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage("java.util.logging..");

    @ArchTest
    static final ArchRule noMutablePublicFields =
            fields()
                    .that()
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

    private static DescribedPredicate<JavaClass> inPackage(String name) {
        NAMED.add(name);
        return resideInAPackage(ROOT + "." + name + "..").as("are in the package " + name);
    }

    private static ArchRule standsAlone(DescribedPredicate<JavaClass> one) {
        return noClasses()
                .that(one)
                .should()
                .dependOnClassesThat(OUTER.and(not(one)).as("are of another outer package"))
                ;
    }

    /** One slice per package, the root package among them; sub-packages are slices of their own. */
    private static final class EachPackage implements SliceAssignment {
        @Override
        public SliceIdentifier getIdentifierOf(JavaClass javaClass) {
            return OURS.test(javaClass)
                    ? SliceIdentifier.of(javaClass.getPackageName())
                    : SliceIdentifier.ignore();
        }

        @Override
        public String getDescription() {
            return "each package";
        }
    }

    /** Where the build puts the classes. Not the class path: there the programs lie among the tests. */
    static final class Compiled implements LocationProvider {
        @Override
        public Set<Location> get(Class<?> testClass) {
            return Set.of(
                    Location.of(Path.of("target", "classes")), Location.of(Path.of("target", "programs")));
        }
    }
}
