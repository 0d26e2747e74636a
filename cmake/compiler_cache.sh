#!/bin/sh
# compiler_cache.sh CCACHE COMPILER ARGUMENTS...: the compiler behind ccache.
# Not so for a precompiled header: ccache preprocesses it with the old one still in place, finds that nothing changed and
# hands the old one out again. The sloppiness is what ccache asks for to work with precompiled headers.
ccache=$1
shift
case " $* " in
  *" -x c++-header "*) exec "$@" ;;
esac
CCACHE_SLOPPINESS=pch_defines,time_macros exec "$ccache" "$@"
