#!/bin/sh
# Builds SQLite into /opt/sqlite of a manylinux image, whose own is older than the store needs.
# cibuildwheel runs it before it builds; auditwheel puts the library into the wheel.
set -eu
name=sqlite-autoconf-3500400
sum=a3db587a1b92ee5ddac2f66b3edb41b26f9c867275782d46c3a088977d6a5b18
cd "$(mktemp -d)"
curl -fsSLO --retry 3 "https://www.sqlite.org/2025/$name.tar.gz"
echo "$sum  $name.tar.gz" | sha256sum -c -
tar xzf $name.tar.gz
mkdir -p /opt/sqlite/include /opt/sqlite/lib
cp $name/sqlite3.h /opt/sqlite/include
cc -O2 -fPIC -shared -Wl,-soname,libsqlite3.so.0 -DSQLITE_THREADSAFE=1 \
    -o /opt/sqlite/lib/libsqlite3.so.0 $name/sqlite3.c -pthread -ldl -lm
ln -sf libsqlite3.so.0 /opt/sqlite/lib/libsqlite3.so
