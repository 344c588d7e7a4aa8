// Sentences and names that Python writes into a comparison, in the language of the page.

import { translator } from "../shared/language.js";

const KOREAN = {
  "Take {}: {}, as good as {} ({}) within noise, {}× cheaper.":
    "‘{}’ 모델을 추천합니다. 정확도 {}로 오차 범위 안에서 ‘{}’({})만큼 좋고, {}배 저렴합니다.",
  "Take {}: {}, the best; nothing that is as good is much cheaper.":
    "‘{}’ 모델을 추천합니다. 정확도 {}로 가장 좋고, 이만큼 좋으면서 훨씬 저렴한 모델은 없습니다.",
  "Take {}: {}, better than {} ({}) beyond noise.":
    "‘{}’ 모델을 추천합니다. 정확도 {}로, 오차 범위를 넘어 ‘{}’({})보다 좋습니다.",
  "Take {}: {}.": "‘{}’ 모델을 추천합니다. 정확도는 {}입니다.",
  "linear, on hashed n-grams": "해시한 n-그램 위의 선형 모델",
  "majority: the shares of the labels, for any text": "다수결: 어떤 글이든 레이블의 비율",
  "logistic regression on vectors": "벡터 위의 로지스틱 회귀",
  "MLP on vectors": "벡터 위의 MLP",
  "{} on embeddings of {}": "{1} 임베딩 위의 {0}",
  "fine-tuned transformer": "미세 조정한 트랜스포머",
  "{} classifiers combined": "분류기 {}개를 합침",
  "{} is left out: {}": "{}은(는) 뺐습니다: {}",
  "{} is not UTF-8 and was read as {}": "{}은(는) UTF-8이 아니어서 {}로 읽었습니다",
  "{} is not UTF-8: characters in {} lines cannot be read": "{}은(는) UTF-8이 아닙니다. {}줄에 읽을 수 없는 글자가 있습니다",
  "{}: text in column {}, label in column {}; {} holds ids and is not used":
    "{}: 글은 {} 열, 레이블은 {} 열에 있습니다. {} 열은 id라서 쓰지 않습니다",
  "{}: text in column {}, label in column {}": "{}: 글은 {} 열, 레이블은 {} 열에 있습니다",
  "{}: {} texts are left out: fewer than {} have their label ({})":
    "{}: 글 {}편을 뺐습니다. 레이블이 같은 글이 {}편보다 적습니다 ({})",
  "{}: {} test texts are also trained on": "{}: 시험 글 {}편은 학습에도 쓰였습니다",
  "{}: {} repeated texts are not tested on (keep_duplicates tests them)":
    "{}: 되풀이된 글 {}편은 시험하지 않았습니다 (keep_duplicates로 시험합니다)",
  "{}: {} texts are also in {} and are not tested on (keep_duplicates tests them)":
    "{}: 글 {}편은 {}에도 있어서 시험하지 않았습니다 (keep_duplicates로 시험합니다)",
  "{}: {} texts occur with different labels": "{}: 글 {}편은 서로 다른 레이블로 나옵니다",
  "{}: {} texts have the label {} and {} the label {}: look at macro-F1, or balance the classes":
    "{}: 레이블 {2}의 글은 {1}편, 레이블 {4}의 글은 {3}편입니다. 매크로 F1을 보거나 레이블의 균형을 맞추세요",
  "{}: texts in the order of their ids have their labels in blocks; ids are not used, but texts may carry what else came with the blocks":
    "{}: 글을 id 순서로 놓으면 레이블이 덩어리집니다. id는 쓰지 않지만, 덩어리마다 다른 점이 글에 남아 있을 수 있습니다",
};

/** A sentence or name of Python's as the page says it. */
export const translated = translator(KOREAN);
