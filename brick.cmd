@echo off
rem Runs the command line, and builds it first if it is missing or older than its sources. Needs a JDK (17 or later) and
rem Maven, and works from any folder: brick demo, brick report run.json. JAVA_HOME is the JDK; default: the java on the
rem path.
setlocal
set "root=%~dp0"
set "target=%root%tools\target"
set "jar=%target%\brick.jar"
set "classes=%target%\brick.jsa"
set "java=java"
if defined JAVA_HOME set "java=%JAVA_HOME%\bin\java"

rem A folder is newer, too, if a file in it was removed.
powershell -NoProfile -Command ^
  "$jar = Get-Item -ErrorAction SilentlyContinue $env:jar; if (!$jar) { exit 1 };" ^
  "$parts = 'pom.xml', '*\pom.xml', 'build\parent.xml', 'agent\assembly.xml', 'src\main', '*\src\main';" ^
  "$paths = $parts | ForEach-Object { Get-Item (Join-Path $env:root $_) };" ^
  "$files = @($paths) + @($paths | Where-Object PSIsContainer | Get-ChildItem -Recurse);" ^
  "if ($files | Where-Object { $_.LastWriteTime -gt $jar.LastWriteTime }) { exit 1 }"
if not errorlevel 1 goto run

>&2 echo brick: building tools\target\brick.jar, which is missing or older than its sources
set "MAVEN_OPTS=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC %MAVEN_OPTS%"
call mvn -q -f "%root%build" package -DskipTests -pl ../tools -am >&2 || exit /b 1
if exist "%classes%" del "%classes%"
"%java%" -XX:DumpLoadedClassList="%target%\brick.classes" -jar "%jar%" --help report >nul 2>&1
"%java%" -Xshare:dump -XX:+UseG1GC -XX:SharedClassListFile="%target%\brick.classes" ^
  -XX:SharedArchiveFile="%classes%" -cp "%jar%" >nul 2>&1

:run
set options=-XX:SharedArchiveFile="%classes%" -Xshare:auto -Xlog:disable
rem The others measure, or run for long: they have the collector and the compilers of every Java program.
for %%c in (demo devices roofline) do if "%~1"=="%%c" goto start
set options=%options% -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
:start
"%java%" %options% -jar "%jar%" %*
