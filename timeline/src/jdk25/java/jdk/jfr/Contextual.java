package jdk.jfr;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Stands for the annotation of JDK 25 when the sources are compiled for JDK 17. It is in no jar: JDK 25 has its own,
 * and earlier JDKs ignore an annotation whose class they lack.
 */
@Target(ElementType.FIELD)
@Retention(RetentionPolicy.RUNTIME)
public @interface Contextual {}
