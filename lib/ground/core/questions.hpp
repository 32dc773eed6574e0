#pragma once

#include <array>

namespace diacut {

/// What a command line may ask for, and sets of these: each option says which of them it is for.
using Questions = unsigned;
inline constexpr Questions kAsksCut = 1;      ///< A cut of a hierarchy by its heights.
inline constexpr Questions kAsksMarks = 2;    ///< A cut of a hierarchy by seeds.
inline constexpr Questions kAsksObjects = 4;  ///< Objects before a background.
inline constexpr Questions kAsksDirect = 8;   ///< Direct cuts.
inline constexpr Questions kAsksGrowth = 16;  ///< Labels that grow from seeds.
inline constexpr Questions kAsksTree = kAsksCut | kAsksMarks | kAsksObjects;
inline constexpr Questions kAsksVectors = kAsksTree | kAsksDirect;
inline constexpr Questions kAsksSeeded = kAsksMarks | kAsksGrowth;
inline constexpr Questions kAsksAny = kAsksVectors | kAsksGrowth;

/// A question in the words of messages and of the help.
struct QuestionInfo {
  Questions question;
  const char* name;
  const char* method;  ///< Empty with seeds.
};

inline constexpr std::array kQuestions = {
    QuestionInfo{kAsksCut, "a hierarchy (--method hierarchy)", "hierarchy"},
    QuestionInfo{kAsksMarks, "a hierarchy cut by seeds (--method hierarchy --seeds)", ""},
    QuestionInfo{kAsksObjects, "objects (--method objects)", "objects"},
    QuestionInfo{kAsksDirect, "direct cuts (--method kway)", "kway"},
    QuestionInfo{kAsksGrowth, "labels that grow from seeds (--seeds, by --method walker)", ""},
};

}  // namespace diacut
