#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# rocminfo ROCMINFO LIBDIR SHIM WORKDIR: the shipped binary on the emulated library. It asks lsmod and /dev/kfd for the
# driver first, so it is shown stand-ins of both.
set -e
rocminfo=$1 libdir=$2 shim=$3 work=$4/rocminfo
rm -rf "$work"
mkdir -p "$work/bin"
printf '#!/bin/sh\necho "amdgpu 1 0"\n' > "$work/bin/lsmod"
chmod +x "$work/bin/lsmod"

run() # arch output
{
    PATH="$work/bin:$PATH" LD_LIBRARY_PATH="$libdir" LD_PRELOAD="$COGEN_PRELOAD $shim" COGEN_EMU_ARCH=$1 \
        "$rocminfo" > "$2" 2> "$2.err" || {
        cat "$2" "$2.err"
        echo "rocminfo failed for $1"
        exit 1
    }
}
has() # file pattern
{
    grep -q -- "$2" "$1" || {
        cat "$1"
        echo "rocminfo does not say: $2"
        exit 1
    }
}

run gfx950 "$work/950"
has "$work/950" 'Name: *gfx950'
has "$work/950" 'amdgcn-amd-amdhsa--gfx950:sramecc+:xnack-'
has "$work/950" 'Compute Unit: *256'
has "$work/950" 'Wavefront Size: *64'
has "$work/950" 'Size: *160(0xa0) KB'
has "$work/950" 'Device Type: *CPU'
has "$work/950" 'KERNARG'
has "$work/950" 'Done'
run gfx942 "$work/942"
has "$work/942" 'Name: *gfx942'
has "$work/942" 'Size: *64(0x40) KB'
echo "rocminfo lists gfx950 and gfx942"
