// SPDX-License-Identifier: Apache-2.0

import Glibc

typealias FuzzerArguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

/// libFuzzer's loop.
@_silgen_name("LLVMFuzzerRunDriver")
func runDriver(
    _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<FuzzerArguments?>,
    _ oneInput: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

private let chosen: FuzzTarget = {
    let name = getenv("YKIT_FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
        FuzzTarget.all.forEach { print($0.name) }
        exit(2)
    }
    return target
}()

/// The entry point that the package manager expects of this executable. Without a known YKIT_FUZZ_TARGET in the
/// environment it lists the targets and ends with status 2.
@_cdecl("ykfuzz_main")
func ykfuzzMain(_ count: CInt, _ arguments: FuzzerArguments?) -> CInt {
    var count = count
    var arguments = arguments
    _ = chosen
    return runDriver(&count, &arguments) { data, size in
        chosen.run(Array(UnsafeBufferPointer(start: data, count: size)))
        return 0
    }
}
