#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# client.sh CLIENT LIBDIR KERNELDIR: the example client on the emulated library, good and bad.
client=$1 kernels=$3 failed=0
LD_LIBRARY_PATH=$2
export LD_LIBRARY_PATH
log=$kernels/client.log

case_is() # name, wanted exit code, wanted text, then VAR=value ... command
{
    name=$1 code=$2 text=$3
    shift 3
    env "$@" > "$log" 2>&1
    got=$?
    if [ $got -ne "$code" ] || ! grep -q -- "$text" "$log"; then
        echo "$name: exit code $got (wanted $code), wanted text: $text"
        cat "$log"
        failed=1
    fi
}

good=$kernels/kernels-gfx950.co
case_is gfx950 0 'on gfx950: correct' "$client" "$good"
case_is gfx942 0 'on gfx942: correct' COGEN_EMU_ARCH=gfx942 "$client" "$kernels/kernels-gfx942.co"
for seed in 1 2 3; do
    case_is "seed $seed" 0 correct COGEN_EMU_SEED=$seed COGEN_EMU_THREADS=1 "$client" "$good"
done
case_is 'some checks' 0 correct COGEN_EMU_CHECKS=waits,bounds "$client" "$good"
case_is 'one check less' 0 correct COGEN_EMU_CHECKS=-caches "$client" "$good"
case_is 'wrong target' 1 'it is for gfx942.*the device is a gfx950' "$client" "$kernels/kernels-gfx942.co"
case_is 'no file' 1 'No such file' "$client" "$kernels/none.co"
head -c 700 "$good" > "$kernels/short.co"
case_is 'cut short' 1 'code object refused' "$client" "$kernels/short.co"
case_is 'instruction limit' 1 'the queue: ' COGEN_EMU_MAX_INSTS=100 "$client" "$good"

# A value that is not understood stops hsa_init, with a line that says which.
case_is 'bad arch' 1 'COGEN_EMU_ARCH=gfx90a: expected gfx950 or gfx942' COGEN_EMU_ARCH=gfx90a "$client" "$good"
case_is 'bad check' 1 "COGEN_EMU_CHECKS=waits,wiats: 'wiats' is none of" COGEN_EMU_CHECKS=waits,wiats "$client" "$good"
case_is 'empty check' 1 'COGEN_EMU_CHECKS=: ' COGEN_EMU_CHECKS= "$client" "$good"
case_is 'check bits' 1 'COGEN_EMU_CHECKS=64: expected a number' COGEN_EMU_CHECKS=64 "$client" "$good"
case_is 'bad seed' 1 'COGEN_EMU_SEED=x1: expected a number' COGEN_EMU_SEED=x1 "$client" "$good"
case_is 'big seed' 1 'COGEN_EMU_SEED=99999999999999999999: ' COGEN_EMU_SEED=99999999999999999999 "$client" "$good"
case_is 'no threads' 1 'COGEN_EMU_THREADS=0: expected' COGEN_EMU_THREADS=0 "$client" "$good"
case_is 'few CUs' 1 'COGEN_EMU_CUS=4: expected a number from 8 to 256' COGEN_EMU_CUS=4 "$client" "$good"
case_is 'bad mfma' 1 'COGEN_EMU_MFMA=exact: accepted are model, precise' COGEN_EMU_MFMA=exact "$client" "$good"
case_is 'bad limit' 1 'COGEN_EMU_MAX_INSTS=-1: expected' COGEN_EMU_MAX_INSTS=-1 "$client" "$good"
[ $failed -eq 0 ] && echo 'client: all cases as expected'
exit $failed
