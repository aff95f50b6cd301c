# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0

# CPack's settings for the Debian packages caromd, carom, libcarom1 and libcarom-dev. docker/debian/pack.sh passes the
# folder of the build in CAROM_BUILD. The build itself does not read this file.
set(debian ${CMAKE_CURRENT_LIST_DIR})
set(build $ENV{CAROM_BUILD})
file(STRINGS ${build}/CMakeCache.txt line REGEX "^CMAKE_PROJECT_VERSION:")
string(REGEX REPLACE ".*=" "" CPACK_PACKAGE_VERSION "${line}")

set(CPACK_GENERATOR DEB)
set(CPACK_CMAKE_GENERATOR Ninja)
set(CPACK_PACKAGE_NAME carom)
set(CPACK_PACKAGE_FILE_NAME carom)
set(CPACK_PACKAGE_DESCRIPTION carom)  # CPack asks for it; the packages have their own
set(CPACK_PACKAGE_VENDOR Carom)
# The project has no mail address. Set DEBFULLNAME and DEBEMAIL to your own before you pass packages on.
set(CPACK_PACKAGE_CONTACT "The Carom authors <carom@example.org>")
if(DEFINED ENV{DEBFULLNAME} AND DEFINED ENV{DEBEMAIL})
  set(CPACK_PACKAGE_CONTACT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                                                WORLD_READ WORLD_EXECUTE)
set(CPACK_THREADS 1)  # the compressed bytes depend on the number of threads

# A package is a component of the build's install rules, or the group `dev` of two components.
set(CPACK_COMPONENTS_ALL caromd carom library core client)
set(CPACK_INSTALL_CMAKE_PROJECTS "${build};carom;ALL;/")
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENT_CORE_GROUP dev)
set(CPACK_COMPONENT_CLIENT_GROUP dev)
set(CPACK_PRE_BUILD_SCRIPTS ${debian}/stage.cmake)  # adds what the install rules do not

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SOURCE carom)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(about "
Carom answers exact queries of 2D collision detection: casts, overlaps,
distances, contacts and sweeps in scenes of any polygons. No verdict
depends on a tolerance.
")

set(CPACK_DEBIAN_CAROMD_PACKAGE_NAME caromd)
set(CPACK_DEBIAN_CAROMD_PACKAGE_SECTION net)
set(CPACK_DEBIAN_CAROMD_PACKAGE_SHLIBDEPS ON)
# systemd-sysusers, which makes the user carom, and the commands of postinst.
set(CPACK_DEBIAN_CAROMD_PACKAGE_DEPENDS
    "systemd | systemd-standalone-sysusers | systemd-sysusers, init-system-helpers (>= 1.54~)")
set(CPACK_DEBIAN_CAROMD_PACKAGE_RECOMMENDS carom)
set(CPACK_DEBIAN_CAROMD_PACKAGE_SUGGESTS haproxy)
set(CPACK_DEBIAN_CAROMD_PACKAGE_CONTROL_EXTRA ${debian}/caromd/conffiles ${debian}/caromd/postinst
                                              ${debian}/caromd/postrm ${debian}/caromd/prerm)
set(CPACK_DEBIAN_CAROMD_DESCRIPTION "server for exact 2D collision queries over gRPC${about}
This package has the server caromd as a service of systemd: it keeps scenes
in memory and in a SQLite file or etcd, and answers queries over gRPC.")

set(CPACK_DEBIAN_CAROM_PACKAGE_NAME carom)
set(CPACK_DEBIAN_CAROM_PACKAGE_SECTION net)
set(CPACK_DEBIAN_CAROM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_CAROM_PACKAGE_SUGGESTS caromd)
set(CPACK_DEBIAN_CAROM_DESCRIPTION "command line for exact 2D collision queries${about}
This package has the command carom, which manages and queries the scenes of
a server, measures a server, converts maps, and answers queries by itself.")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libcarom1)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
# Where CPack finds shared libraries by itself, its scripts call ldconfig, for which Debian has a trigger.
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS "libc6 (>= 2.35)")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${debian}/libcarom1/shlibs ${debian}/libcarom1/triggers)
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "library for exact 2D collision queries (C interface)${about}
This package has the shared library for programs in C and in languages that
call C.")

# The static libraries fit the headers of one version of each package in the loop. The CMake package of gRPC wants its
# plugin of protoc to be there.
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libssl-dev (>= 3.0), protobuf-compiler-grpc")
foreach(package libabsl-dev libgrpc++-dev libprotobuf-dev)
  execute_process(COMMAND dpkg-query -W -f "\${source:Upstream-Version}" ${package}
                  OUTPUT_VARIABLE version COMMAND_ERROR_IS_FATAL ANY)
  string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
         ", ${package} (>= ${version}), ${package} (<< ${version}.1)")
endforeach()
string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS ", libcarom1 (= ${CPACK_PACKAGE_VERSION}-1)")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libcarom-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_DESCRIPTION "C++ library for exact 2D collision queries (development files)${about}
This package has the static libraries, headers and CMake package of the
library, carom::core, and of the client of a server, carom::client.")
