// Sentences and names that Python writes into a scene, in the language of the page.

import { language, translator } from "../shared/language.js";

const KOREAN = {
  "cluster": "군집",
  "sense": "뜻",
  "label": "레이블",
  "script": "문자",
  "part of speech": "품사",
  "frequency rank": "빈도 순위",
  "count, as a power of ten": "개수 (10의 거듭제곱)",
  "in three dimensions drawn by {}": "3차원에서는 {}(으)로 그렸습니다",
  "drawn by PCA: {}": "PCA로 그렸습니다: {}",
  "texts are shown up to {} characters; longer: {}": "글은 {}자까지 보입니다; 더 긴 글 {}편",
  "{} of {} texts are drawn, evenly spaced": "글 {1}편 중 고르게 뽑은 {0}편을 그렸습니다",
  "the {} most frequent of {} are drawn": "단어 {1}개 중 가장 잦은 {0}개를 그렸습니다",
  "{} left out: not finite, the first '{}'": "{}개는 유한한 수가 아니어서 뺐습니다. 첫째는 '{}'입니다",
  "{} vectors are all zeros: they are near to nothing": "벡터 {}개는 모두 0이어서 이웃이 없습니다",
  "{} keys shared, of {} in {}": "{2}의 키 {1}개 중 {0}개가 양쪽에 있습니다",
  "rotated and scaled to match {} (Procrustes)": "{}에 맞추어 돌리고 크기를 바꾸었습니다 (프로크루스테스)",
  "too large for queries in the page: neighbours are listed only": "너무 커서 페이지에서는 이웃 목록만 볼 수 있습니다",
  "{} occurrences of '{}' in {} senses (silhouette {})": "‘{1}’이(가) 쓰인 곳 {0}군데, 뜻 {2}가지 (실루엣 {3})",
  "{} occurrences of '{}' in one sense": "‘{1}’이(가) 쓰인 곳 {0}군데, 뜻 한 가지",
  "of {} sentences that hold it, {} are read": "그 단어가 든 문장 {}개 중 {}개를 읽었습니다",
  "{} of {} points have no label in {}": "점 {1}개 중 {0}개는 {2}에 레이블이 없습니다",
  "{} keys of {} are not drawn": "{1}의 키 {0}개는 그리지 않았습니다",
};

const KOREAN_LABELS = { // of the fields that Python makes
  "script": { Latin: "로마자", Hangul: "한글", Han: "한자", Kana: "가나", Cyrillic: "키릴 문자",
    Greek: "그리스 문자", Arabic: "아랍 문자", Hebrew: "히브리 문자", numbers: "숫자", signs: "기호",
    "other scripts": "다른 문자" },
  "part of speech": { name: "고유 명사", pronoun: "대명사", numeral: "수사", noun: "명사",
    adjective: "형용사", verb: "동사", adverb: "부사", determiner: "관형사", interjection: "감탄사",
    particle: "조사", ending: "어미", affix: "접사", none: "없음" },
};
const MISSING = { "no label": "레이블 없음", "no value": "값 없음" };

/** A sentence or name of Python's as the page says it. */
export const translated = translator(KOREAN);

/** A label of a field as the page says it. @param {string} field @param {string} label
 * @param {string} [to] */
export function translatedLabel(field, label, to = language()) {
  if (to !== "ko") return label;
  const unnamed = label.match(/^(?:cluster|sense) (\d+)$/u); // those without a typical word
  if (unnamed && Object.hasOwn(KOREAN, field)) return `${KOREAN[field]} ${unnamed[1]}`;
  return KOREAN_LABELS[field]?.[label] ?? (Object.hasOwn(MISSING, label) ? MISSING[label] : label);
}
