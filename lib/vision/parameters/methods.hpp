#pragma once

#include <array>

namespace diacut {

/// Methods that a command line may ask for, as a set: each option says which of them it is for.
using Methods = unsigned;
inline constexpr Methods kForCuts = 1;        ///< A cut of a hierarchy by its heights.
inline constexpr Methods kForSeededCuts = 2;  ///< A cut of a hierarchy by seeds.
inline constexpr Methods kForObjects = 4;     ///< Objects before a background.
inline constexpr Methods kForDirectCuts = 8;  ///< Direct cuts.
inline constexpr Methods kForGrowth = 16;     ///< Labels that grow from seeds.
inline constexpr Methods kForHierarchies = kForCuts | kForSeededCuts | kForObjects;
inline constexpr Methods kForRegions = kForHierarchies | kForDirectCuts;
inline constexpr Methods kForSeeds = kForSeededCuts | kForGrowth;
inline constexpr Methods kForAll = kForRegions | kForGrowth;

/// A method in the words of messages and of the help.
struct MethodInfo {
  Methods method;
  const char* name;
  const char* value;  ///< Of --method; empty with seeds.
};

inline constexpr std::array kMethods = {
    MethodInfo{kForCuts, "a hierarchy (--method hierarchy)", "hierarchy"},
    MethodInfo{kForSeededCuts, "a hierarchy cut by seeds (--method hierarchy --seeds)", ""},
    MethodInfo{kForObjects, "objects (--method objects)", "objects"},
    MethodInfo{kForDirectCuts, "direct cuts (--method kway)", "kway"},
    MethodInfo{kForGrowth, "labels that grow from seeds (--seeds, by --method walker)", ""},
};

}  // namespace diacut
