# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0

# CPack runs this before it packs the folders of the packages, whose names are those of components and groups. Adds
# the files that no install rule of the build installs, and strips programs and libraries.
set(debian ${CMAKE_CURRENT_LIST_DIR})
set(project ${debian}/../..)
set(caromd ${CPACK_TEMPORARY_DIRECTORY}/caromd)
set(carom ${CPACK_TEMPORARY_DIRECTORY}/carom)
set(library ${CPACK_TEMPORARY_DIRECTORY}/library)
set(dev ${CPACK_TEMPORARY_DIRECTORY}/dev)

# carom_run(COMMAND…)
function(carom_run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# carom_put(DESTINATION FILE [NAME] [COMPRESSED]): copies a file under a name. Compressed files have the suffix .gz and
# carry neither name nor time, so that equal contents are equal bytes.
function(carom_put destination file)
  cmake_parse_arguments(PARSE_ARGV 2 arg "COMPRESSED" "NAME" "")
  cmake_path(GET file FILENAME name)
  if(arg_NAME)
    set(name ${arg_NAME})
  endif()
  file(MAKE_DIRECTORY ${destination})
  file(COPY_FILE ${file} ${destination}/${name})
  file(CHMOD ${destination}/${name} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  if(arg_COMPRESSED)
    carom_run(gzip -9nf ${destination}/${name})
  endif()
endfunction()

carom_put(${caromd}/usr/lib/systemd/system ${debian}/caromd.service)
carom_put(${caromd}/usr/lib/sysusers.d ${debian}/caromd.sysusers NAME caromd.conf)
carom_put(${caromd}/etc/carom ${debian}/caromd.toml)
carom_put(${caromd}/usr/share/man/man8 ${debian}/caromd.8 COMPRESSED)
carom_put(${caromd}/usr/share/doc/caromd/examples ${project}/docker/haproxy.cfg)

# carom_print(DESTINATION NAME COMMAND…): a file with what a command of the packed program prints.
function(carom_print destination name)
  set(file ${CPACK_TEMPORARY_DIRECTORY}/../${name})
  execute_process(COMMAND ${carom}/usr/bin/carom ${ARGN} OUTPUT_FILE ${file} COMMAND_ERROR_IS_FATAL ANY)
  carom_put(${destination} ${file})
endfunction()

carom_print(${carom}/usr/share/man/man1 carom.1 manual)
carom_run(gzip -9nf ${carom}/usr/share/man/man1/carom.1)
carom_print(${carom}/usr/share/bash-completion/completions carom completion bash)
carom_print(${carom}/usr/share/zsh/vendor-completions _carom completion zsh)
carom_print(${carom}/usr/share/fish/vendor_completions.d carom.fish completion fish)

# Debian's policy requires a changelog in each package. It has one entry, with the time of the packed commit.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # of SOURCE_DATE_EPOCH
configure_file(${debian}/changelog.in ${CPACK_TEMPORARY_DIRECTORY}/../changelog.Debian @ONLY)
foreach(package caromd carom libcarom1 libcarom-dev)
  set(folder ${CPACK_TEMPORARY_DIRECTORY}/${package}/usr/share/doc/${package})
  string(REPLACE /libcarom1/usr /library/usr folder ${folder})
  string(REPLACE /libcarom-dev/usr /dev/usr folder ${folder})
  carom_put(${folder} ${debian}/copyright)
  carom_put(${folder} ${CPACK_TEMPORARY_DIRECTORY}/../changelog.Debian COMPRESSED)
  carom_put(${folder} ${project}/CHANGELOG.md NAME changelog COMPRESSED)
endforeach()

# The pages of stores are no part of the API.
file(REMOVE_RECURSE ${dev}/usr/include/carom/store)

set(unneeded --remove-section=.comment --remove-section=.note)
carom_run(strip ${unneeded} ${caromd}/usr/bin/caromd ${carom}/usr/bin/carom)
file(GLOB libraries ${library}/usr/lib/*/*.so.*)
carom_run(strip --strip-unneeded ${unneeded} ${libraries})
file(CHMOD ${libraries} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
file(GLOB libraries ${dev}/usr/lib/*/*.a)
carom_run(strip --strip-debug --enable-deterministic-archives ${unneeded} ${libraries})
